# SPDX-License-Identifier: Apache-2.0
"""What benchmarks have in common: the command line, measuring in sets, the report."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
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

from benchmarks.runtime.facts import machine_facts
from benchmarks.runtime.job import PYTHONS, Settings
from benchmarks.runtime.measure import ROOT, ChildError, Feelers, Turns, ask
from benchmarks.runtime.plan import Group, Stint, stints
from benchmarks.runtime.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.runtime.claims import Check
    from benchmarks.runtime.job import Failure, Measurement, Python
    from benchmarks.runtime.report import Report

QUICK = (1, 30)
"""In how many sets of processes, and how many slices each has in a set."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A family of benchmarks.

    Attributes:
        name: As in ``python -m benchmarks.<name>``.
        description: What it is for.
        groups: What is compared with each other.
        checks: Tells what is promised, and what was measured of it.
        report: Makes the report.
        turns: Measures in turns.
    """

    name: str
    description: str
    groups: Sequence[Group]
    checks: Callable[[Results, tuple[Python, ...]], list[Check]]
    report: type[Report]
    turns: type[Turns] = Turns

    @property
    def workloads(self) -> tuple[str, ...]:
        """The names of all workloads."""
        return tuple(dict.fromkeys(group.workload for group in self.groups))

    @property
    def engines(self) -> tuple[str, ...]:
        """The names of all engines."""
        return tuple(dict.fromkeys(e for g in self.groups for _, e in g.jobs))


def arguments(bench: Bench, given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{bench.name}", description=bench.description
    )
    parser.add_argument("--gil", metavar="PYTHON", help="an interpreter with a GIL")
    parser.add_argument("--ft", metavar="PYTHON", help="a free-threaded interpreter")
    parser.add_argument(
        "--quick", action="store_true", help="one set of processes, few slices"
    )
    for option, metavar, choices in (
        ("--only", "WORKLOAD", bench.workloads),
        ("--engines", "ENGINE", bench.engines),
    ):
        parser.add_argument(
            option,
            nargs="+",
            metavar=metavar,
            choices=choices,
            default=(),
            help=f"some of: {', '.join(choices)}",
        )
    parser.add_argument("--repeats", type=int, help="in how many sets of processes")
    parser.add_argument("--slices", type=int, help="how many slices each has in a set")
    parser.add_argument("--seconds", type=float, help="how long a slice is, about")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=ROOT / "build" / f"bench-{bench.name}",
        help=f"where the results go (default: build/bench-{bench.name})",
    )
    parser.add_argument(
        "--no-verdict",
        action="store_true",
        help="only measure: a promise that is not kept is no failure",
    )
    options = parser.parse_args(given)
    if not (options.gil or options.ft):
        parser.error("give --gil PYTHON, --ft PYTHON, or both")
    for name in ("repeats", "slices", "seconds"):
        value = getattr(options, name)
        if value is not None and value <= 0:
            parser.error(f"--{name} must be positive")
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
        bench: Bench,
        paths: dict[Python, str],
        loops_per_us: dict[Python, float],
        options: argparse.Namespace,
    ) -> None:
        self._bench = bench
        self._paths = paths
        self._loops_per_us = loops_per_us
        self._options = options
        self._directory = options.out / "measurements"
        self._directory.mkdir(parents=True, exist_ok=True)
        for old in self._directory.glob("*.json"):
            old.unlink()
        self.results = Results()

    def measure(self, stint: Stint, slices: int | None, feelers: Feelers) -> None:
        """Measure a set of processes, and write it down."""
        group, python = stint.group, stint.python
        seconds = self._options.seconds or group.seconds
        turns = self._bench.turns(
            self._paths[python],
            group.on(python, self._options.engines),
            Settings(seconds, self._loops_per_us[python]),
            feelers,
            stint.repeat,
        )
        measurements, failures = turns.run(slices or group.slices)
        self.results.measurements += measurements
        self.results.failures += failures
        everything: list[Measurement | Failure] = [*measurements, *failures]
        for found in everything:
            stem = found.job.file_stem.replace(" ", "_")
            path = self._directory / f"{stem}-{stint.repeat}.json"
            content = json.dumps(asdict(found), indent=2)
            path.write_text(content + "\n", encoding="utf-8")

    def measure_all(
        self, wanted: Sequence[Stint], slices: int | None, console: Console
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
            bar = progress.add_task("", total=len(wanted))
            for number, stint in enumerate(wanted):
                label = f"{stint.label}, set {stint.repeat + 1}"
                if not console.is_terminal:
                    text = f"[{number}/{len(wanted)}] {label}"
                    console.print(text, markup=False, highlight=False)
                progress.update(bar, description=label)
                self.measure(stint, slices, feelers)
                progress.advance(bar)


def main(bench: Bench, given: Sequence[str] | None = None) -> int:
    """Measure and report; returns 1 if a promise is not kept or something failed."""
    options = arguments(bench, given)
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
    groups = [g for g in bench.groups if not options.only or g.workload in options.only]
    session = Session(bench, paths, turns, options)
    try:
        wanted = list(stints(groups, tuple(paths), repeats))
        session.measure_all(wanted, slices, console)
    except KeyboardInterrupt:
        console.print(f"Interrupted; what was measured is in {options.out}")
        return 130

    report = bench.report(
        machine=machine,
        interpreters=interpreters,
        settings={
            "seconds": options.seconds,
            "repeats": repeats,
            "slices": slices,
            "loops_per_us": turns,
        },
        results=session.results,
        checks=bench.checks(session.results, tuple(paths)),
    )
    report.write(options.out)
    report.show(console)
    console.print(f"Results: {options.out}", highlight=False)
    missed = [check for check in report.checks if check.verdict == "MISSED"]
    return 1 if report.errors() or (missed and not options.no_verdict) else 0
