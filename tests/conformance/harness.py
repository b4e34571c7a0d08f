# SPDX-License-Identifier: Apache-2.0
"""Conformance programs: parses their headers and runs them."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reactorl import run
from reactorl.cli.commands import run as run_command
from reactorl.cli.main import main
from reactorl.lf.diagnostics import Report
from reactorl.lf.federates import Federates, federates_of, is_federated
from reactorl.lf.link.resolve import resolve
from reactorl.lf.loader import LoadedProgram
from tests.federation.simulation import Simulation
from tests.oracle import interpret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl import Program
    from reactorl.trace import Trace

HERE = Path(__file__).parent
START = 1_800_000_000_000_000_000
"""Time of the first tag of runs whose traces are compared."""
_RULES = re.compile(r"\bRules? (\d+(?:(?:, | and )\d+)*)")
_SECTIONS = re.compile(r"\((\d+(?:\.\d+)?(?:, \d+(?:\.\d+)?)*)\)")
_KEYWORDS = ("exit", "options", "stderr")


@dataclass(frozen=True)
class Conformance:
    """A program with its header and its ``.out`` file.

    Attributes:
        expected: The expected output, byte for byte.
        status: The expected exit status.
        options: Further options of ``reactorl run``.
        stderr: Texts that must occur on stderr.
        physical: Whether it reads the wall clock, so that no two traces are equal.
        rules: The numbers of the rules that it tests.
        sections: The sections of the LF semantics that it tests.
        rule: The sentence at its start.
    """

    path: Path
    expected: str
    status: int
    options: tuple[str, ...]
    stderr: tuple[str, ...]
    physical: bool
    rules: frozenset[int]
    sections: frozenset[str]
    rule: str

    @property
    def name(self) -> str:
        """Topic and name, e.g. ``timers/no_drift``."""
        return self.path.relative_to(HERE).with_suffix("").as_posix()

    @property
    def ends_normally(self) -> bool:
        """Whether it runs to its final tag, so that its trace is complete."""
        return self.status == 0 and "sys.exit(" not in self.path.read_text("utf-8")


@dataclass(frozen=True)
class Outcome:
    """Exit status and output of a run."""

    status: int
    stdout: str
    stderr: str


def programs() -> list[Conformance]:
    """Return all programs, by name; a ``.lf`` without ``.out`` is only imported."""
    paths = sorted(HERE.rglob("*.lf"))
    return [read(path) for path in paths if path.with_suffix(".out").exists()]


def read(path: Path) -> Conformance:
    """Return a program with its parsed header."""
    lines: list[str] = []
    settings: dict[str, list[str]] = {keyword: [] for keyword in _KEYWORDS}
    physical = False
    for line in _header(path.read_text(encoding="utf-8")):
        keyword, colon, value = line.partition(":")
        if line == "physical":
            physical = True
        elif colon and keyword in _KEYWORDS:
            settings[keyword].append(value.strip())
        else:
            lines.append(line)
    sentence = " ".join(lines)
    numbers = [n for found in _RULES.findall(sentence) for n in found.split(", ")]
    sections = [s for found in _SECTIONS.findall(sentence) for s in found.split(", ")]
    return Conformance(
        path=path,
        expected=path.with_suffix(".out").read_text(encoding="utf-8"),
        status=int(settings["exit"][-1]) if settings["exit"] else 0,
        options=tuple(o for line in settings["options"] for o in shlex.split(line)),
        stderr=tuple(settings["stderr"]),
        physical=physical,
        rules=frozenset(int(n) for part in numbers for n in part.split(" and ")),
        sections=frozenset(sections),
        rule=sentence,
    )


def _header(text: str) -> list[str]:
    """Return the comment lines at the top, without ``//``."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return lines


@contextlib.contextmanager
def _captured() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Capture the output, and remove the modules that loading a program creates.

    Modules of the same name are numbered, and the number would be part of the digests
    of objects in a trace.
    """
    path, known = list(sys.path), set(sys.modules)
    out, err = io.StringIO(), io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default")  # as users see them, not as errors
            warnings.showwarning = lambda message, kind, *_, **__: print(
                f"{kind.__name__}: {message}", file=err
            )
            yield out, err
    finally:
        sys.path[:] = path
        for name in sorted(set(sys.modules) - known):
            if name.startswith("lf_program_"):
                del sys.modules[name]


def run_in_this_process(case: Conformance, *options: str) -> Outcome:
    """Run a program with the command line in this process."""
    with _captured() as (out, err):
        try:
            status = main(["run", str(case.path), *case.options, *options])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
    return Outcome(status, out.getvalue(), err.getvalue())


def run_in_process(case: Conformance, *options: str) -> Outcome:
    """Run a program with the command line in a separate process."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    done = subprocess.run(
        [sys.executable, "-m", "reactorl", "run", case.path, *case.options, *options],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        timeout=120,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@dataclass(frozen=True)
class _Ready:
    """A loaded program with its target properties and options."""

    program: Program
    workers: int | None
    fast: bool
    timeout: int | None
    keepalive: bool | None
    federates: Federates | None


def _load(case: Conformance) -> _Ready:
    parser = argparse.ArgumentParser()
    run_command.add_to(parser.add_subparsers())
    options = parser.parse_args(["run", str(case.path), *case.options])
    report = Report()
    linked = resolve(case.path, report)
    assert linked is not None
    assert linked.main is not None
    loaded = LoadedProgram.of(linked, [linked.main])
    program = loaded.program(report)
    assert program is not None
    properties = linked.properties
    return _Ready(
        program,
        workers=properties.workers,
        fast=bool(properties.fast if options.fast is None else options.fast),
        timeout=properties.timeout if options.timeout is None else options.timeout,
        keepalive=loaded.keepalive if options.keepalive is None else options.keepalive,
        federates=(
            federates_of(linked, program, report) if is_federated(linked) else None
        ),
    )


def by_runtime(case: Conformance, *, workers: int, shuffle: int) -> tuple[str, Trace]:
    """Return the output of a run, and its trace."""
    with _captured() as (out, _):
        ready = _load(case)
        result = run(
            ready.program,
            # A single-threaded program may print its number of threads.
            workers=1 if ready.workers == 1 else workers,
            fast=ready.fast,
            timeout=ready.timeout,
            keepalive=ready.keepalive,
            trace="values",
            start_time=time.time_ns() if case.physical else START,
            freeze=False,
            shuffle=shuffle,
        )
    return out.getvalue(), result.trace


def by_oracle(case: Conformance) -> tuple[str, Trace]:
    """Return the output of the oracle's run, and its trace."""
    with _captured() as (out, _):
        ready = _load(case)
        trace = interpret(
            ready.program,
            timeout=ready.timeout,
            keepalive=ready.keepalive,
            start_time=START,
            deep=True,
        )
    return out.getvalue(), trace


@dataclass(frozen=True)
class InParts:
    """A run of a federated program in parts.

    Attributes:
        printed: What all federates printed.
        trace: The merged trace.
        replayed: The trace of one process that replayed the recording of the run.
    """

    printed: str
    trace: Trace
    replayed: Trace


def by_simulated_wire(case: Conformance, *, seed: int, workers: int) -> InParts:
    """Run a federated program in parts, with latencies that depend on a seed."""
    with _captured() as (out, _):
        ready = _load(case)
        assert ready.federates is not None
        fast = ready.fast and not case.physical
        simulation = Simulation(
            ready.program,
            ready.federates.cut,
            seed=seed,
            workers=workers,
            # Only time can end some waits of a run that reads the wall clock.
            serial=fast,
            fast=fast,
            timeout=ready.timeout,
            keepalive=ready.keepalive,
            trace="values",
            start_time=START if fast else time.time_ns(),
            freeze=False,
            record=True,
        )
        trace = simulation.run()
        printed = out.getvalue()
        replayed = run(
            ready.program,
            workers=workers,
            fast=True,
            timeout=ready.timeout,
            keepalive=ready.keepalive,
            trace="values",
            start_time=START,
            freeze=False,
            replay=simulation.recorded(),
        )
    return InParts(printed, trace, replayed.trace)
