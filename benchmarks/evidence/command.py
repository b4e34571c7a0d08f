# SPDX-License-Identifier: Apache-2.0
"""The command: set up engines, measure what is missing, write the page.

Exit status: 0; 1 if a figure is missed, an engine failed or engines disagree; 2 for a
mistake in the arguments or results that cannot be read; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.evidence import page, plots
from benchmarks.evidence.engines import ENGINES
from benchmarks.evidence.environments import places
from benchmarks.evidence.measuring import Case, EnvShard
from benchmarks.evidence.outcome import disagreements, headline
from benchmarks.evidence.plan import make_plan, nothing_is_done
from benchmarks.evidence.progress import Display
from benchmarks.evidence.store import Run, Store, StoreError
from benchmarks.evidence.workloads import NAMES, load
from benchmarks.runtime.facts import machine_facts
from benchmarks.runtime.measure import ROOT, Feelers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.evidence.environments import Place
    from benchmarks.evidence.plan import Plan
    from benchmarks.evidence.workload import Effort, Workload

DOCS = ROOT / "docs"
PICTURES = "benchmarks"
"""The directory of pictures, beside the page."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "workloads",
        nargs="*",
        metavar="WORKLOAD",
        help=f"some of: {', '.join(NAMES)} (default: all)",
    )
    parser.add_argument(
        "--engines",
        nargs="+",
        action="extend",
        metavar="ENGINE",
        choices=ENGINES,
        help=f"some of: {', '.join(ENGINES)} (default: all)",
    )
    effort = parser.add_mutually_exclusive_group()
    for name, text in (
        ("quick", "at most 6 minutes on 2 cores (default)"),
        ("full", "everything, as long as it takes: for numbers that are published"),
        ("smoke", "milliseconds of everything: does it work?"),
    ):
        effort.add_argument(
            f"--{name}", dest="effort", action="store_const", const=name, help=text
        )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where results go, and where an interrupted run continues "
        "(default: build/bench/EFFORT)",
    )
    parser.add_argument(
        "--sets",
        type=_count,
        metavar="N",
        help="measure at most so many sets of processes for each case; sets that were "
        "measured before count, too, and a later run with more adds what is missing",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="measure again what was measured before"
    )
    parser.add_argument(
        "--report", action="store_true", help="measure nothing, only write the page"
    )
    parser.add_argument(
        "--docs",
        action="store_true",
        help="write docs/benchmarks.md, too; a whole --full run does so anyway",
    )
    parser.add_argument(
        "--here",
        action="store_true",
        help="use this Python for all engines instead of their own environments",
    )
    parser.set_defaults(effort="quick")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        msg = f"{text!r} is no number of sets; it is 1 or more"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def main(given: Sequence[str] | None = None) -> int:
    """Parse arguments and do what they say."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.evidence",
        description="Compare ReactoRL with Ray and today's peers, in one run.",
    )
    add_arguments(parser)
    return command(parser.parse_args(given))


def command(options: argparse.Namespace) -> int:
    """Do what the command is asked for; returns the exit status."""
    unknown = [name for name in options.workloads if name not in NAMES]
    if unknown:
        print(
            f"reactorl bench: no workload is called {', '.join(unknown)}. There are: "
            f"{', '.join(NAMES)}",
            file=sys.stderr,
        )
        return 2
    names = [n for n in NAMES if not options.workloads or n in options.workloads]
    directory: Path = options.out or ROOT / "build" / "bench" / options.effort
    store = Store(directory)
    with Display() as display:
        try:
            if not options.report:
                workloads = [load(name) for name in names]
                measure(workloads, options, store, display)
            return report(store, display, docs=_wants_docs(options, names))
        except KeyboardInterrupt:
            display.say(
                f"Interrupted. Run the same command again to continue; what was "
                f"measured is in {directory}"
            )
            return 130
        except StoreError as error:
            display.complain(f"reactorl bench: {error}")
            return 2


def _wants_docs(options: argparse.Namespace, names: Sequence[str]) -> bool:
    everything = len(names) == len(NAMES) and _engines(options) == list(ENGINES)
    return bool(options.docs or (options.effort == "full" and everything))


def _engines(options: argparse.Namespace) -> list[str]:
    """Return the engines that were asked for, in the order of the list."""
    return [e for e in ENGINES if not options.engines or e in options.engines]


def measure(
    workloads: Sequence[Workload],
    options: argparse.Namespace,
    store: Store,
    display: Display,
) -> None:
    """Set up engines and measure what is not there yet."""
    if not options.here:
        # Engines see the packages of their own environments, and no others.
        os.environ.pop("PYTHONPATH", None)
    used = dict.fromkeys(e for w in workloads for e in w.engines)
    asked = [name for name in _engines(options) if name in used]
    homes, missing = places(
        [ENGINES[name] for name in asked], in_this=options.here, say=display.say
    )
    for name, why in missing.items():
        display.complain(f"{name} is missing: {why}")
    effort: Effort = options.effort
    is_done = nothing_is_done if options.fresh else store.is_done
    plan = make_plan(
        workloads, asked, homes, effort, free_memory(), options.sets, is_done
    )
    machine = machine_facts()
    facts = {name: place.facts for name, place in homes.items()}
    store.begin(
        Run(
            effort=effort,
            files={
                file: key
                for turn in plan.turns
                for file, key in zip(turn.files(), turn.keys.values(), strict=True)
            },
            machine=machine,
            engines=facts,
            missing=missing,
            left_out=dict(plan.left_out),
            workloads=[workload.name for workload in workloads],
            asked=asked,
        )
    )
    measure_all(plan, homes, store, display, machine, facts, fresh=options.fresh)


def measure_all(
    plan: Plan,
    homes: Mapping[str, Place],
    store: Store,
    display: Display,
    machine: dict[str, Any],
    facts: dict[str, dict[str, Any]],
    *,
    fresh: bool,
) -> None:
    """Measure turn by turn, and keep each as soon as it is there."""
    stints = list(plan.stints())
    done = {id(turn) for turn in plan.turns if not fresh and store.is_done(turn)}
    display.begin(len(plan.turns), already=len(done))
    with Feelers(sys.executable) as feelers:
        for stint in stints:
            left = [turn for turn in stint if id(turn) not in done]
            if not left:
                continue
            company = EnvShard(homes)
            engines = list(dict.fromkeys(e for turn in left for e in turn.keys))
            display.turn(f"starting {', '.join(engines)}")
            try:
                company.start(engines)
                for turn in left:
                    display.turn(turn.label)
                    case = Case(turn, company, feelers)
                    case.run()
                    found = [*case.measurements, *case.failures]
                    store.add(turn, found, machine, facts)
                    for failure in case.failures:
                        display.complain(
                            f"{failure.job.label}: {headline(failure.reason)}"
                        )
                    display.advance()
                company.end()
            finally:
                company.kill()


def report(store: Store, display: Display, *, docs: bool) -> int:
    """Write the page and the pictures; returns the exit status.

    Raises:
        StoreError: Results are missing or damaged.
    """
    run, results = store.read()
    targets = [store.directory, *([DOCS] if docs else [])]
    for target in targets:
        write_page(run, results, target)
        display.say(f"Written: {target / 'benchmarks.md'}")
    claims = page.claims_of(page.outcomes(run, results))
    display.claims(claims)
    bad = (
        bool(results.failures)
        or bool(disagreements(results))
        or any(claim.verdict == "missed" for claim in claims)
    )
    return 1 if bad and run.effort != "smoke" else int(bool(results.failures))


def write_page(
    run: Run,
    results: Any,  # noqa: ANN401
    target: Path,
    notes: Path = page.NOTES,
) -> None:
    """Write ``benchmarks.md`` and its pictures into a directory.

    Args:
        run: What the run was.
        results: What was measured.
        target: The directory.
        notes: The causes of missed figures.
    """
    directory = target / PICTURES
    directory.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, list[str]] = {}
    for outcome in page.outcomes(run, results):
        for plot in filter(plots.Plot.has_data, outcome.workload.plots(outcome)):
            svg, *_ = plots.draw(plot, directory)
            shown = f"![{plot.title}]({PICTURES}/{svg})"
            pictures.setdefault(outcome.workload.name, []).append(shown)
    text = page.render(run, results, pictures, notes)
    (target / "benchmarks.md").write_text(text, encoding="utf-8")


def free_memory() -> int:
    """Return how many bytes of memory are free for us."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0
