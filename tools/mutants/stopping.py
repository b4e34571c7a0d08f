# SPDX-License-Identifier: Apache-2.0
"""Mutants of what stops a program: signals, Ctrl-Z, and limits on time."""

from __future__ import annotations

from typing import Final

from mutants.mutant import Mutant

_SRC: Final = "src/reactorl/"
_UTIL: Final = _SRC + "_util/"
_SESSION: Final = _SRC + "rl/runs/session.py"
_PROBE: Final = _SRC + "rl/envs/thread_safety/probe.py"
_TRAIN: Final = "tests/cli/commands/test_train.py::test_"
_WORKER: Final = "tests/rl/envs/test_worker_process.py::test_"
_CHILD: Final = "tests/util/test_child_process.py"

STOPPING: Final = (
    Mutant(
        "stopping-child-that-starts-gets-signals",
        _UTIL + "child_process.py",
        "before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)",
        "before = signal.pthread_sigmask(signal.SIG_BLOCK, ())",
        (
            _CHILD,
            _WORKER + "workers_that_are_starting_leave_signals_of_the_group_to_"
            "the_parent",
        ),
        "Ctrl-C in a terminal ends worker processes that import their modules.",
    ),
    Mutant(
        "stopping-parent-stays-deaf",
        _UTIL + "child_process.py",
        "signal.pthread_sigmask(signal.SIG_SETMASK, before)",
        "pass",
        (_CHILD,),
        "Ctrl-C has no effect any more after a worker process was started.",
    ),
    Mutant(
        "stopping-child-stays-deaf",
        _UTIL + "child_process.py",
        "signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)",
        "pass",
        (_CHILD,),
        "A worker process, and what it starts, cannot be terminated.",
    ),
    Mutant(
        "stopping-swallowed-ctrl-c-is-forgotten",
        _UTIL + "interrupts.py",
        "    if receive.came:",
        "    if False:",
        ("tests/util/test_interrupts.py",),
        "Ctrl-C while a program imports its packages is lost.",
    ),
    Mutant(
        "stopping-inner-block-keeps-ctrl-c-to-itself",
        _UTIL + "interrupts.py",
        "or isinstance(before, _Receive)",
        "or isinstance(before, type)",
        ("tests/util/test_interrupts.py",),
        "Ctrl-C that a finalizer swallows in the inner block is known to no one.",
    ),
    Mutant(
        "stopping-handler-of-the-program-is-replaced",
        _UTIL + "interrupts.py",
        "if not ours or",
        "if",
        ("tests/util/test_interrupts.py",),
        "A training ends although the program handles Ctrl-C in its own way.",
    ),
    Mutant(
        "stopping-start-of-a-training-loses-ctrl-c",
        _SESSION,
        "starting.enter_context(remembered_interrupts())",
        "starting.enter_context(nullcontext())",
        (_TRAIN + "ctrl_c_that_a_finalizer_swallows_at_the_start_stops_the_training",),
        "A training runs to its end after Ctrl-C.",
    ),
    Mutant(
        "stopping-last-iteration-is-evaluated-after-ctrl-c",
        _SESSION,
        "            if not signals:\n                self._evaluate",
        "            if complete or not signals:\n                self._evaluate",
        (_TRAIN + "ctrl_c_in_the_last_iteration_leaves_out_the_final_evaluation",),
        "Ctrl-C in the last iteration is answered after the final evaluation.",
    ),
    Mutant(
        "stopping-last-iteration-hides-ctrl-c",
        _SESSION,
        "signal=signals[0] if signals else None",
        "signal=signals[0] if signals and not complete else None",
        (_TRAIN + "ctrl_c_in_the_last_iteration_leaves_out_the_final_evaluation",),
        "A script continues although Ctrl-C was pressed.",
    ),
    Mutant(
        "stopping-killed-probe-is-a-verdict",
        _PROBE,
        "if -status in _FROM_OUTSIDE:",
        "if -status in ():",
        (
            "tests/rl/envs/test_thread_safety.py::test_signals_from_outside_say_"
            "nothing_about_the_environment",
        ),
        "An environment counts as unsafe for ever because its probe was killed.",
    ),
    Mutant(
        "stopping-ctrl-z-counts-in-threads",
        _SRC + "rl/envs/timeout.py",
        "deadline = deadline + pause",
        "deadline = deadline + 0",
        (
            "tests/rl/envs/test_timeout.py::test_time_in_which_the_process_was_stopped_"
            "does_not_count",
        ),
        "A training that was suspended fails when it continues.",
    ),
    Mutant(
        "stopping-ctrl-z-counts-in-processes",
        _SRC + "rl/envs/process/worker.py",
        "since += pauses.look()",
        "since += 0 * pauses.look()",
        (_WORKER + "time_in_which_the_parent_is_stopped_does_not_count",),
        "A training that was suspended kills its workers when it continues.",
    ),
    Mutant(
        "stopping-computing-counts-as-a-pause",
        _UTIL + "pauses.py",
        "elapsed - busy - _USUAL",
        "elapsed - _USUAL",
        ("tests/util/test_pauses.py",),
        "A C function that holds the GIL exceeds every timeout unnoticed.",
    ),
)
