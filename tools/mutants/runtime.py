# SPDX-License-Identifier: Apache-2.0
"""Mutants of ``_runtime``: running, driving, recording and checking a program."""

from __future__ import annotations

from typing import Final

from mutants.mutant import Mutant

_RUNTIME: Final = "src/reactorl/_runtime/"
_PRINTS: Final = (
    "tests/conformance/test_conformance.py::test_program_prints_the_expected_output"
)

RUNTIME: Final = (
    Mutant(
        "runtime-recording-is-written-in-place",
        _RUNTIME + "recording.py",
        'with atomic_writer(Path(path), "w") as file:',
        'with Path(path).open("w", encoding="utf-8") as file:',
        ("tests/runtime/test_recording.py",),
        "A failed save destroys the last recording.",
    ),
    Mutant(
        "runtime-checking-blames-the-next-reaction",
        _RUNTIME + "checking.py",
        "self._verify(list(self._sent), node, before=True)",
        "pass",
        ("tests/runtime/test_checking.py",),
        "An error names a reaction that did nothing wrong.",
    ),
    Mutant(
        "runtime-checking-misses-replaced-values",
        _RUNTIME + "checking.py",
        "if self._session.value(slot) is not value and slot not in writes:",
        "if self._session.value(slot) is not value:",
        ("tests/runtime/test_checking.py",),
        "A nondeterministic program passes the checking mode.",
    ),
    Mutant(
        "runtime-stopped-watchdog-expires",
        _RUNTIME + "watchdogs.py",
        """\
                if self._due.get(node.id) != time or self._ending:
                    return
                del self._due[node.id]
""",
        """\
                if self._ending:
                    return
                self._due.pop(node.id, None)
""",
        ("tests/runtime/test_watchdogs.py",),
        "A watchdog that was stopped in time runs its handler.",
    ),
    Mutant(
        "runtime-alarm-is-recorded-one-reaction-late",
        _RUNTIME + "watchdogs.py",
        ".append(turn.reactions)",
        ".append(turn.reactions + 1)",
        ("tests/runtime/test_watchdogs.py",),
        "A replay differs from the recorded run.",
    ),
    Mutant(
        "runtime-reactions-overlap-with-watchdog-handlers",
        _RUNTIME + "watchdogs.py",
        """\
        with turn.lock:
            try:
                body(instance)
""",
        """\
        if turn.lock is not None:
            try:
                body(instance)
""",
        ("tests/runtime/test_watchdogs.py",),
        "A handler and a reaction change the same state concurrently.",
    ),
    Mutant(
        "util-seeds-depend-on-the-last-name-only",
        "src/reactorl/_util/seeds.py",
        'text = f"{run_seed}\\0{path}".encode()',
        "text = f\"{run_seed}\\0{path.rpartition('.')[2]}\".encode()",
        ("tests/util/test_seeds.py",),
        "Reactors of the same name draw the same random numbers.",
    ),
    Mutant(
        "runtime-preloaded-values-arrive-at-once",
        _RUNTIME + "live.py",
        "arrival = sent + (stage.delay or 0)",
        "arrival = sent",
        ("tests/runtime/test_preload.py",),
        "A resumed run gets its weights too early.",
    ),
    Mutant(
        "runtime-session-ends-after-a-failure",
        _RUNTIME + "drive.py",
        "if error is None and self._open and not self._failed:",
        "if error is None and self._open:",
        ("tests/runtime/test_drive.py",),
        "A driven program that failed runs its final tag.",
    ),
    Mutant(
        "runtime-replay-misses-deadlines-again",
        _RUNTIME + "recording.py",
        "return (self._now(), self._reaction_name(reaction)) in self._missed",
        "return late",
        ("tests/runtime/test_physical.py",),
        "A replay on a slow machine differs from the recorded run.",
    ),
    Mutant(
        "runtime-plug-goes-on-after-a-failure",
        _RUNTIME + "drive.py",
        "            except BaseException as error:\n"
        "                self._failed = not _is_refused_input(error)\n"
        "                raise",
        "            except BaseException:\n                raise",
        ("tests/runtime/test_drive.py",),
        "A failed program is stepped further.",
    ),
    Mutant(
        "runtime-checking-ignores-global-random-state",
        _RUNTIME + "checking.py",
        "if seeds.global_state() != random_before:",
        "if seeds.global_state() is None:",
        ("tests/runtime/test_values.py",),
        "A nondeterministic program passes the checking mode.",
    ),
    Mutant(
        "runtime-checking-runs-reactions-concurrently",
        _RUNTIME + "options.py",
        "workers=1 if check else workers",
        "workers=workers",
        (
            "tests/runtime/test_checking.py",
            "tests/runtime/test_values.py",
        ),
        "The checking mode blames an innocent reaction.",
    ),
    Mutant(
        "runtime-fast-run-starts-at-the-date",
        _RUNTIME + "options.py",
        "start_time=0 if start_time is None and fast else start_time",
        "start_time=start_time",
        (
            "tests/runtime/test_timing.py",
            "tests/runtime/test_tag.py",
            "tests/runtime/test_drive.py",
        ),
        "Bodies that read the time make two fast runs differ.",
    ),
    Mutant(
        "runtime-members-of-a-bank-have-one-home",
        _RUNTIME + "plan.py",
        "home[node.id] = node.bank_index * workers // (node.bank_width or 1)",
        "home[node.id] = 0",
        ("tests/runtime/test_stay_home.py",),
        "Workers take reactors from each other.",
    ),
    Mutant(
        "runtime-policies-are-swapped",
        _RUNTIME + "plan.py",
        '"replace": 2, "update": 3',
        '"replace": 3, "update": 2',
        (f"{_PRINTS}[actions/spacing_replaces]",),
        "An event moves instead of being replaced.",
    ),
    Mutant(
        "runtime-entries-of-modes-are-swapped",
        _RUNTIME + "views.py",
        'by_reset = entry == "reset"',
        'by_reset = entry != "reset"',
        (f"{_PRINTS}[modes/history_resumes]",),
        "A mode that is entered by history starts anew.",
    ),
    Mutant(
        "runtime-mutable-inputs-are-shared",
        _RUNTIME + "views.py",
        "copies=node.mutable and is_own",
        "copies=False",
        ("tests/runtime/test_values.py",),
        "Receivers see each other's changes.",
    ),
    Mutant(
        "runtime-connections-of-one-port-share-a-name",
        _RUNTIME + "tracing.py",
        "while name in names:",
        "while name in names and again > 1:",
        ("tests/runtime/test_physical.py",),
        "A recorded event arrives over another connection in the replay.",
    ),
    Mutant(
        "runtime-parents-are-torn-down-first",
        _RUNTIME + "live.py",
        "for instance in reversed(self._instances):",
        "for instance in self._instances:",
        (
            "tests/runtime/test_instances.py",
            "tests/runtime/test_failures.py",
            "tests/runtime/test_drive.py",
        ),
        "A child uses what its parent has closed.",
    ),
    Mutant(
        "runtime-teardown-hides-the-error-of-the-run",
        _RUNTIME + "live.py",
        "if cause is not None and isinstance(error, Exception):",
        "if cause is None and isinstance(error, OSError):",
        ("tests/runtime/test_failures.py",),
        "The error that is shown is a consequence of the real one.",
    ),
    Mutant(
        "runtime-failed-setup-leaves-reactors-open",
        _RUNTIME + "live.py",
        """\
        instantiate(
            self.program, views, self._instances, self._part, self._native_states
        )
""",
        """\
        self._instances = instantiate(
            self.program, views, None, self._part, self._native_states
        )
""",
        ("tests/runtime/test_failures.py",),
        "Processes and files stay open after a failed setup().",
    ),
    Mutant(
        "runtime-missed-deadlines-are-recorded-in-the-order-of-workers",
        _RUNTIME + "live.py",
        "self._record.missed.sort()",
        "self._record.missed.reverse()",
        (
            "tests/runtime/test_physical.py",
            "tests/runtime/test_recording.py",
        ),
        "Recordings of equal runs differ.",
    ),
    Mutant(
        "runtime-recording-of-another-program-is-replayed",
        _RUNTIME + "live.py",
        "if replay.program and replay.program != self.program.digest:",
        "if replay.program is None:",
        ("tests/runtime/test_physical.py",),
        "A replay fails late, or shows nonsense.",
    ),
    Mutant(
        "runtime-replay-does-not-end",
        _RUNTIME + "live.py",
        """\
        if replay.end is not None:
            self.session.stop_at(replay.end.time, replay.end.microstep)
""",
        "",
        ("tests/runtime/test_physical.py",),
        "A replay continues after the end of the recorded run.",
    ),
    Mutant(
        "runtime-tag-with-forgotten-invocations-is-kept",
        _RUNTIME + "timing.py",
        "rows[0][0] + 1",
        "rows[0][0]",
        ("tests/runtime/test_timing.py",),
        "A timeline lacks reactions of its first tag.",
    ),
    Mutant(
        "runtime-extra-time-of-a-watchdog-is-ignored",
        _RUNTIME + "watchdogs.py",
        "self._program.watchdogs[number].timeout + extra",
        "self._program.watchdogs[number].timeout",
        (f"{_PRINTS}[watchdogs/extra_delay]",),
        "A watchdog expires too early.",
    ),
    Mutant(
        "runtime-first-watchdog-expires-first",
        _RUNTIME + "watchdogs.py",
        "key=lambda item: item[::-1]",
        "key=lambda item: item",
        ("tests/runtime/test_watchdogs.py",),
        "A watchdog waits for another one with a longer timeout.",
    ),
    Mutant(
        "runtime-absent-channels-are-set-to-none",
        _RUNTIME + "drive.py",
        "(c, v) for c, v in zip(channels, value, strict=True) if v is not None",
        "(c, v) for c, v in zip(channels, value, strict=True)",
        ("tests/runtime/test_drive.py",),
        "A channel without a value is present.",
    ),
)
