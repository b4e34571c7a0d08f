# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.lf``: measure, report, judge."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from benchmarks.lf import claims
from benchmarks.lf.report import LfReport
from benchmarks.runtime.__main__ import check_interpreters, interpreter_path
from benchmarks.runtime.facts import machine_facts
from benchmarks.runtime.job import PYTHONS, Settings
from benchmarks.runtime.measure import ROOT, Child, Feelers, Turns, ask
from benchmarks.runtime.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.runtime.job import Failure, Measurement, Python

SECONDS = 0.01
"""How long a slice of ping-pong is; the others take as long as they take."""
THOROUGH = (5, 100)
QUICK = (1, 60)
"""In how many sets of processes, and how many slices each has in a set, at most."""


class LfChild(Child):
    """A process that measures something of the front end."""

    module = "benchmarks.lf.child"


class LfTurns(Turns):
    """Jobs of the front end that are measured in turns."""

    child = LfChild


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lf",
        description="Measure how fast .lf programs start, are read, and run.",
    )
    parser.add_argument("--gil", metavar="PYTHON", help="an interpreter with a GIL")
    parser.add_argument("--ft", metavar="PYTHON", help="a free-threaded interpreter")
    parser.add_argument(
        "--quick", action="store_true", help="one set of processes, fewer slices"
    )
    names = list(dict.fromkeys(claim.workload for claim in claims.CLAIMS))
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        choices=names,
        metavar="WORKLOAD",
        help=f"some of: {', '.join(names)}",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=ROOT / "build" / "bench-lf",
        help="where the results go (default: build/bench-lf)",
    )
    options = parser.parse_args(given)
    if not (options.gil or options.ft):
        parser.error("give --gil PYTHON, --ft PYTHON, or both")
    return options


def measure(
    wanted: Sequence[claims.Claim],
    paths: dict[Python, str],
    repeats: int,
    slices: int,
    directory: Path,
) -> Results:
    """Measure what the claims need; each set of processes is written down."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.json"):
        old.unlink()
    results = Results()
    with Feelers(sys.executable) as feelers:
        for repeat in range(repeats):
            for claim in wanted:
                for python, path in paths.items():
                    print(f"[{repeat + 1}/{repeats}] {claim.text}, {python}")
                    turns = LfTurns(
                        path, claim.jobs(python), Settings(SECONDS), feelers, repeat
                    )
                    found, failures = turns.run(max(1, round(slices * claim.share)))
                    results.measurements += found
                    results.failures += failures
                    both: list[Measurement | Failure] = [*found, *failures]
                    for each in both:
                        stem = each.job.file_stem.replace(" ", "_")
                        text = json.dumps(asdict(each), indent=2)
                        file = directory / f"{stem}-{repeat}.json"
                        file.write_text(f"{text}\n", encoding="utf-8")
    return results


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
    repeats, slices = QUICK if options.quick else THOROUGH
    wanted = claims.chosen(options.only)
    results = measure(wanted, paths, repeats, slices, options.out / "measurements")
    report = LfReport(
        machine=machine,
        interpreters=interpreters,
        settings={
            "seconds": SECONDS,
            "repeats": repeats,
            "slices": slices,
            "loops_per_us": {n: ask(path, "turns_per_us") for n, path in paths.items()},
        },
        results=results,
        checks=[claim.check(results, python) for claim in wanted for python in paths],
    )
    report.write(options.out)
    report.show(console)
    console.print(f"Results: {options.out}", highlight=False)
    missed = [check for check in report.checks if check.verdict != "OK"]
    return 1 if report.errors() or missed else 0


if __name__ == "__main__":
    sys.exit(main())
