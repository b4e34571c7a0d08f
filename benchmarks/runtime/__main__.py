# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.runtime``: measure, report, judge."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from benchmarks.runtime import plan
from benchmarks.runtime.claims import checks
from benchmarks.runtime.facts import machine_facts
from benchmarks.runtime.job import PYTHONS, Settings
from benchmarks.runtime.measure import ROOT, ChildError, Feelers, Turns, ask
from benchmarks.runtime.report import Report
from benchmarks.runtime.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.runtime.job import Failure, Measurement, Python

QUICK = (1, 30)
"""In how many sets of processes, and how many slices each has in a set."""


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.runtime",
        description="Compare the runtime with plain Python and with other runtimes.",
    )
    parser.add_argument("--gil", metavar="PYTHON", help="an interpreter with a GIL")
    parser.add_argument("--ft", metavar="PYTHON", help="a free-threaded interpreter")
    parser.add_argument(
        "--quick", action="store_true", help="one set of processes, few slices"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="WORKLOAD",
        choices=plan.WORKLOADS,
        help=f"some of: {', '.join(plan.WORKLOADS)}",
    )
    parser.add_argument(
        "--engines",
        nargs="+",
        metavar="ENGINE",
        choices=plan.ENGINES,
        default=(),
        help=f"some of: {', '.join(plan.ENGINES)}",
    )
    parser.add_argument("--repeats", type=int, help="in how many sets of processes")
    parser.add_argument("--slices", type=int, help="how many slices each has in a set")
    parser.add_argument("--seconds", type=float, help="how long a slice is, about")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=ROOT / "build" / "bench-runtime",
        help="where the results go (default: build/bench-runtime)",
    )
    parser.add_argument(
        "--no-verdict",
        action="store_true",
        help="only measure: a promise that is not kept is no failure",
    )
    options = parser.parse_args(given)
    if not (options.gil or options.ft):
        parser.error("give --gil PYTHON, --ft PYTHON, or both")
    for name in ("repeats", "slices"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name} must be 1 or more")
    if options.seconds is not None and options.seconds <= 0:
        parser.error("--seconds must be positive")
    return options


def interpreter_path(given: str | None) -> str | None:
    """Return an interpreter that another working directory finds, too."""
    if given is None or "/" not in given:
        return given
    return str(Path(given).absolute())  # not resolved: an environment is a link


def check_interpreters(paths: dict[Python, str]) -> dict[str, dict[str, Any]]:
    """Return the facts about each interpreter.

    Raises:
        SystemExit: One does not work, or is not what it is said to be.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, path in paths.items():
        try:
            facts: dict[str, Any] = ask(path, "facts")
        except ChildError as error:
            sys.exit(f"--{name} {path} does not work: {error}")
        if facts["gil"] == (name == "ft"):
            is_so = "has a GIL" if facts["gil"] else "has no GIL"
            sys.exit(f"--{name} {path}: this Python {is_so}")
        found[name] = facts
    return found


class Session:
    """One run of the benchmarks: what to measure with, and what came out."""

    def __init__(
        self,
        paths: dict[Python, str],
        loops_per_us: dict[Python, float],
        seconds: float | None,
        engines: Sequence[str],
        out: Path,
    ) -> None:
        self._paths = paths
        self._engines = engines
        self._loops_per_us = loops_per_us
        self._seconds = seconds
        self._directory = out / "measurements"
        self._directory.mkdir(parents=True, exist_ok=True)
        for old in self._directory.glob("*.json"):
            old.unlink()
        self.results = Results()

    def measure(self, stint: plan.Stint, slices: int | None, feelers: Feelers) -> None:
        """Measure a set of processes, and write it down."""
        group, python = stint.group, stint.python
        turns = Turns(
            self._paths[python],
            group.on(python, self._engines),
            Settings(self._seconds or group.seconds, self._loops_per_us[python]),
            feelers,
            stint.repeat,
        )
        measurements, failures = turns.run(slices or group.slices)
        self.results.measurements += measurements
        self.results.failures += failures
        everything: list[Measurement | Failure] = [*measurements, *failures]
        for found in everything:
            path = self._directory / f"{found.job.file_stem}-{stint.repeat}.json"
            content = json.dumps(asdict(found), indent=2)
            path.write_text(content + "\n", encoding="utf-8")

    def measure_all(
        self, stints: Sequence[plan.Stint], slices: int | None, console: Console
    ) -> None:
        """Measure everything, with a bar that shows how far it is."""
        columns = (
            TextColumn("{task.description:<44}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with (
            Progress(*columns, console=console, transient=True) as progress,
            Feelers(sys.executable) as feelers,
        ):
            bar = progress.add_task("", total=len(stints))
            for number, stint in enumerate(stints):
                label = f"{stint.label}, set {stint.repeat + 1}"
                if not console.is_terminal:
                    text = f"[{number}/{len(stints)}] {label}"
                    console.print(text, markup=False, highlight=False)
                progress.update(bar, description=label)
                self.measure(stint, slices, feelers)
                progress.advance(bar)


def main(given: Sequence[str] | None = None) -> int:
    """Measure and report; returns 1 if a promise is not kept or something failed."""
    options = arguments(given)
    console = Console()
    if not console.is_terminal:
        console.width = 200
    paths: dict[Python, str] = {
        name: found
        for name in PYTHONS
        if (found := interpreter_path(getattr(options, name)))
    }
    machine = machine_facts()
    interpreters = check_interpreters(paths)

    repeats, slices = QUICK if options.quick else (None, None)
    repeats, slices = options.repeats or repeats, options.slices or slices
    turns = {name: ask(path, "turns_per_us") for name, path in paths.items()}
    groups = [g for g in plan.GROUPS if not options.only or g.workload in options.only]
    session = Session(paths, turns, options.seconds, options.engines, options.out)
    try:
        stints = list(plan.stints(groups, tuple(paths), repeats))
        session.measure_all(stints, slices, console)
    except KeyboardInterrupt:
        console.print(f"Interrupted; what was measured is in {options.out}")
        return 130

    report = Report(
        machine=machine,
        interpreters=interpreters,
        settings={
            "seconds": options.seconds,
            "repeats": repeats,
            "slices": slices,
            "loops_per_us": turns,
        },
        results=session.results,
        checks=checks(session.results, tuple(paths)),
    )
    report.write(options.out)
    report.show(console)
    console.print(f"Results: {options.out}", highlight=False)
    missed = [check for check in report.checks if check.verdict == "MISSED"]
    return 1 if report.errors() or (missed and not options.no_verdict) else 0


if __name__ == "__main__":
    sys.exit(main())
