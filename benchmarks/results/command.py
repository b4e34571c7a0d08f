# SPDX-License-Identifier: Apache-2.0
"""The command: measure what is missing, one run after another, and report.

Exit status: 0; 1 if a run failed; 2 for invalid arguments; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.environments import (
    ENVIRONMENTS,
    Place,
    SetUpError,
    facts_of,
    lacking,
)
from benchmarks.harness.facts import gil_is_on, machine_facts
from benchmarks.harness.outcome import headline
from benchmarks.harness.process import ROOT
from benchmarks.harness.progress import Display
from benchmarks.results import report
from benchmarks.results.engines import ENGINES
from benchmarks.results.process import train
from benchmarks.results.runs import Run, Store, cells
from benchmarks.results.tasks import TASKS, smoke

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.results.engines import TrainingEngine
    from benchmarks.results.runs import Cell
    from benchmarks.results.tasks import Task

PAGE = ROOT / "docs" / "results.md"
PUBLISHED = ROOT / "docs" / "results"
"""Runs behind the page. They are part of the repository, so that a suite of many hours
can be measured in pieces, on one machine after another."""
BUILD = ROOT / "build" / "bench-results"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.results",
        description="Train tasks to their thresholds with ReactoRL and other "
        "libraries, in turns, and report. Call it again to continue.",
    )
    parser.add_argument(
        "tasks", nargs="*", metavar="TASK", help=f"some of: {', '.join(TASKS)} (all)"
    )
    parser.add_argument(
        "--engines", nargs="+", choices=ENGINES, metavar="ENGINE",
        help=f"some of: {', '.join(ENGINES)} (all)",
    )  # fmt: skip
    parser.add_argument(
        "--algorithms", nargs="+", metavar="NAME", help="some of: ppo, dqn, sac (all)"
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="seeds 1 to N (those of the task)"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="seconds of each, to see whether it works"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="directory of results")
    parser.add_argument(
        "--gil", metavar="PYTHON", help="interpreter of ours-gil, with our package"
    )
    parser.add_argument(
        "--ft", metavar="PYTHON", help="interpreter of ours-ft, with our package"
    )
    parser.add_argument(
        "--here", action="store_true", help="use this interpreter for all engines"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="repeat what was measured before"
    )
    parser.add_argument(
        "--report", action="store_true", help="measure nothing, only write the report"
    )
    parser.add_argument(
        "--docs", action="store_true",
        help="measure into docs/results, and write docs/results.md",
    )  # fmt: skip
    return parser


def main(given: Sequence[str] | None = None) -> int:
    """Parse arguments and run the command."""
    options = parser().parse_args(given)
    if unknown := [name for name in options.tasks if name not in TASKS]:
        known = ", ".join(TASKS)
        print(f"TASK must be one of {known}, got {unknown[0]}", file=sys.stderr)
        return 2
    if options.docs and (options.smoke or options.out):
        print("--docs cannot be used with --smoke or --out", file=sys.stderr)
        return 2
    effort = "smoke" if options.smoke else "full"
    directory = PUBLISHED if options.docs else options.out or BUILD / effort
    # Directories of runs have checkpoints, which are too large for a repository.
    store = Store(directory, BUILD / "curves" if options.docs else None)
    page = PAGE if options.docs else directory / report.NAME
    failed = False
    with Display() as display:
        try:
            if not options.report:
                failed = measure(options, store, display)
        except KeyboardInterrupt:
            display.say("Interrupted. Run the same command again to continue.")
            return 130
        store.keep_curves()
        text = report.write(store, page)
        display.say(f"Written: {page}")
        display.markdown(text)
    return int(failed)


def measure(options: argparse.Namespace, store: Store, display: Display) -> bool:
    """Measure what is not there yet; return whether a run failed."""
    tasks = [TASKS[name] for name in TASKS if name in (options.tasks or TASKS)]
    if options.smoke:
        tasks = [smoke(task) for task in tasks]
    if options.seeds:
        tasks = [replace(task, seeds=options.seeds) for task in tasks]
    engines = [ENGINES[e] for e in ENGINES if e in (options.engines or ENGINES)]
    wanted = list(cells(tasks, engines, options.algorithms))
    found, missing = places(
        dict.fromkeys(cell.engine.name for cell in wanted), options, display
    )
    jobs = _jobs(wanted, found, missing)
    store.note_missing(missing)
    done = [job for job in jobs if not options.fresh and store.is_done(job[0], job[1])]
    display.begin(len(jobs), already=len(done))
    failed = False
    for cell, seed in jobs:
        if (cell, seed) in done:
            continue
        display.case(f"{cell.label}, seed {seed}")
        run = _run(cell, seed, found[cell.engine.name], store)
        store.add(cell, run)
        if run.failure:
            failed = True
            display.complain(f"{cell.label}: {headline(run.failure)}")
        else:
            display.say(f"{cell.label}, seed {seed}: {_outcome(run, cell.task)}")
        display.advance()
    return failed


def _jobs(
    wanted: Sequence[Cell], found: dict[str, Place], missing: dict[str, str]
) -> list[tuple[Cell, int]]:
    """Return the runs in the order of measurement: all engines of a seed in turns."""
    able = []
    for cell in wanted:
        place = found.get(cell.engine.name)
        if place is None:
            continue
        if absent := lacking(place.python, cell.task.modules):
            what = f"{cell.engine.name} on {cell.task.name}"
            missing[what] = f"{', '.join(absent)} not installed"
        else:
            able.append(cell)
    jobs = []
    for task in dict.fromkeys(cell.task for cell in able):
        for seed in range(1, task.seeds + 1):
            jobs += [(cell, seed) for cell in able if cell.task == task]
    return jobs


def _run(cell: Cell, seed: int, place: Place, store: Store) -> Run:
    request = cell.request(seed)
    if cell.task.curve:
        request["directory"] = str(store.run_directory(cell, seed))
    load = os.getloadavg()[0]
    found = train(place.python, request)
    packages = place.facts["packages"]
    facts = {
        "machine": machine_facts(),
        "python": place.facts["version"],
        "packages": packages,
        "revision": _revision() if cell.engine.ours else "",
    }
    return Run(
        task=cell.task.name,
        engine=cell.engine.name,
        algorithm=cell.algorithm,
        seed=seed,
        load=load,
        facts=facts,
        key=cell.key,
        **found,
    )


def _outcome(run: Run, task: Task) -> str:
    reached = run.reached(task.threshold)
    if reached is not None:
        return (
            f"{reached['mean_return']:.4g} after {reached['seconds']:.1f} s, "
            f"{int(reached['steps']):,} steps"
        )
    last = run.evaluations[-1] if run.evaluations else None
    return f"not reached, {last['mean_return']:.4g} at last" if last else "done"


def places(
    names: Sequence[str] | dict[str, None],
    options: argparse.Namespace,
    display: Display,
) -> tuple[dict[str, Place], dict[str, str]]:
    """Return where engines are installed, and why some cannot be."""
    found: dict[str, Place] = {}
    missing: dict[str, str] = {}
    for name in names:
        engine = ENGINES[name]
        try:
            place = _place(engine, options, display)
            if absent := lacking(place.python, engine.needs):
                msg = f"{', '.join(absent)} not installed in {place.python}"
                raise SetUpError(msg)
            found[name] = place
        except SetUpError as error:
            missing[name] = headline(str(error))
            display.complain(f"{name} is missing: {missing[name]}")
    return found, missing


def _place(
    engine: TrainingEngine, options: argparse.Namespace, display: Display
) -> Place:
    given = options.ft if engine.free_threaded else options.gil
    if options.here:
        if engine.free_threaded == gil_is_on():
            msg = "this interpreter is of the other kind"
            raise SetUpError(msg)
        given = sys.executable
    elif not engine.ours:
        given = None
    if given is None:
        return ENVIRONMENTS[engine.environment].set_up(display.say)
    path = str(Path(given).absolute()) if "/" in given else given
    return Place(path, facts_of(path))


def _revision() -> str:
    git = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
