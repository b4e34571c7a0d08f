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
from benchmarks.runtime.job import PYTHONS, Failure, Settings
from benchmarks.runtime.measure import ROOT, ChildError, ask, measure
from benchmarks.runtime.report import Report
from benchmarks.runtime.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.runtime.job import Job, Python

THOROUGH = (1.2, 5)
QUICK = (0.3, 3)
"""Seconds per measurement, and repeats."""


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.runtime",
        description="Compare the runtime with plain Python and with other runtimes.",
    )
    parser.add_argument("--gil", metavar="PYTHON", help="an interpreter with a GIL")
    parser.add_argument("--ft", metavar="PYTHON", help="a free-threaded interpreter")
    parser.add_argument(
        "--quick", action="store_true", help="short measurements, few repeats"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="WORKLOAD",
        choices=plan.WORKLOADS,
        help=f"some of: {', '.join(plan.WORKLOADS)}",
    )
    parser.add_argument("--repeats", type=int, help="how often each job is measured")
    parser.add_argument(
        "--seconds", type=float, help="how long each measurement takes, about"
    )
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
    if options.repeats is not None and options.repeats < 1:
        parser.error("--repeats must be 1 or more")
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
        self, paths: dict[Python, str], settings: dict[Python, Settings], out: Path
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._directory = out / "measurements"
        self._directory.mkdir(parents=True, exist_ok=True)
        for old in self._directory.glob("*.json"):
            old.unlink()
        self.results = Results()

    def measure(self, job: Job, repeat: int) -> None:
        """Measure once, and write it down."""
        found = measure(
            self._paths[job.python], job, self._settings[job.python], repeat
        )
        if isinstance(found, Failure):
            self.results.failures.append(found)
            content = asdict(found)
        else:
            self.results.measurements.append(found)
            content = found.as_json()
        path = self._directory / f"{job.file_stem}-{repeat}.json"
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def measure_all(
        self, rounds: list[tuple[plan.Group, int, list[Job]]], console: Console
    ) -> None:
        """Measure everything, with a bar that shows how far it is."""
        total = sum(len(jobs) for _, _, jobs in rounds)
        columns = (
            TextColumn("{task.description:<44}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            bar = progress.add_task("", total=total)
            for group, repeat, jobs in rounds:
                if not console.is_terminal:
                    cases = dict.fromkeys(job.case for job in jobs)
                    done = progress.tasks[bar].completed
                    console.print(
                        f"[{done:.0f}/{total}] {group.workload} {', '.join(cases)}, "
                        f"repeat {repeat + 1}: {len(jobs)} measurements",
                        markup=False,
                        highlight=False,
                    )
                for job in jobs:
                    progress.update(bar, description=job.label)
                    self.measure(job, repeat)
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

    seconds, repeats = QUICK if options.quick else THOROUGH
    seconds, repeats = options.seconds or seconds, options.repeats or repeats
    turns = {name: ask(path, "turns_per_us") for name, path in paths.items()}
    settings = {name: Settings(seconds, turns[name]) for name in paths}
    groups = [g for g in plan.GROUPS if not options.only or g.workload in options.only]
    session = Session(paths, settings, options.out)
    try:
        session.measure_all(list(plan.rounds(groups, tuple(paths), repeats)), console)
    except KeyboardInterrupt:
        console.print(f"Interrupted; what was measured is in {options.out}")
        return 130

    report = Report(
        machine=machine,
        interpreters=interpreters,
        settings={"seconds": seconds, "repeats": repeats, "loops_per_us": turns},
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
