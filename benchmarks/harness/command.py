# SPDX-License-Identifier: Apache-2.0
"""The command: set up engines, measure what is missing, write the report.

Exit status: 0; 1 if a claim is missed, an engine failed or engines disagree; 2 for
invalid arguments or results that cannot be read; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.engines import ENGINES
from benchmarks.harness import report
from benchmarks.harness.builds import both_builds, other_source
from benchmarks.harness.calm import CalmProbes
from benchmarks.harness.environments import SetUpError, places
from benchmarks.harness.facts import free_memory, gil_is_on, machine_facts
from benchmarks.harness.outcome import errors, headline
from benchmarks.harness.plan import make_plan, nothing_is_done
from benchmarks.harness.process import ROOT, ask
from benchmarks.harness.progress import Display
from benchmarks.harness.store import Run, Store, StoreError
from benchmarks.harness.turns import Processes, Turns
from benchmarks.suites import SUITES
from benchmarks.workloads import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.harness.builds import Source
    from benchmarks.harness.environments import Place
    from benchmarks.harness.plan import Plan
    from benchmarks.harness.suite import Suite
    from benchmarks.harness.workload import Workload

DOCS = ROOT / "docs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "workloads",
        nargs="*",
        metavar="WORKLOAD",
        help=f"some of: {', '.join(SUITES['main'].workloads)}, or of another suite "
        "(default: all of the suite)",
    )
    parser.add_argument(
        "--suite", choices=SUITES, default="main", help="what to measure (main)"
    )
    parser.add_argument(
        "--engines",
        nargs="+",
        action="extend",
        metavar="ENGINE",
        choices=ENGINES,
        help=f"some of: {', '.join(ENGINES)} (default: all of the workloads)",
    )
    effort = parser.add_mutually_exclusive_group()
    for name, text in (
        ("quick", "at most 6 minutes on 2 cores (default of the suite main)"),
        ("full", "everything, for published numbers (default of other suites)"),
        ("smoke", "milliseconds of everything, to see whether it works"),
    ):
        effort.add_argument(
            f"--{name}", dest="effort", action="store_const", const=name, help=text
        )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="directory of results, where an interrupted run continues "
        "(default: build/bench/EFFORT, build/bench-SUITE/EFFORT)",
    )
    parser.add_argument(
        "--sets",
        type=_positive,
        metavar="N",
        help="measure at most this many sets of processes for each case; sets that "
        "were measured before count, and a later run with more adds the missing ones",
    )
    parser.add_argument(
        "--against",
        metavar="REV",
        help="measure our package in turns with that of another revision, or in "
        "another directory; no figure may be more than 5%% worse. Other engines are "
        "measured only if --engines names them",
    )
    parser.add_argument("--gil", metavar="PYTHON", help="interpreter with a GIL")
    parser.add_argument("--ft", metavar="PYTHON", help="free-threaded interpreter")
    parser.add_argument(
        "--here",
        action="store_true",
        help="use this interpreter for all engines instead of their environments",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="repeat what was measured before"
    )
    parser.add_argument(
        "--report", action="store_true", help="measure nothing, only write the report"
    )
    parser.add_argument(
        "--docs",
        action="store_true",
        help="also write the page in docs; a complete --full run of main always does",
    )
    parser.add_argument(
        "--no-verdict", action="store_true", help="exit with 0 if a claim is missed"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        msg = f"must be 1 or more, got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def main(given: Sequence[str] | None = None) -> int:
    """Parse arguments and run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure a suite of benchmarks, engines in turns, and report.",
    )
    add_arguments(parser)
    return command(parser.parse_args(given))


def command(options: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    suite = SUITES[options.suite]
    unknown = [name for name in options.workloads if name not in suite.workloads]
    if unknown:
        print(
            f"reactorl bench: WORKLOAD must be one of {', '.join(suite.workloads)}, "
            f"got {', '.join(unknown)}",
            file=sys.stderr,
        )
        return 2
    options.effort = options.effort or suite.effort
    names = [n for n in suite.workloads if n in (options.workloads or suite.workloads)]
    with Display() as display:
        try:
            other = other_source(options.against) if options.against else None
            options.out = options.out or _directory(suite, options.effort, other)
            store = Store(options.out)
            if not options.report:
                measure([load(name) for name in names], options, other, store, display)
            docs = options.docs or _is_complete_main_run(options, names)
            return finish(store, display, docs=docs, judged=not options.no_verdict)
        except KeyboardInterrupt:
            display.say(
                "Interrupted. Run the same command again to continue; results so far "
                f"are in {options.out or 'build'}"
            )
            return 130
        except (StoreError, SetUpError) as error:
            display.complain(f"reactorl bench: {error}")
            return 2


def _directory(suite: Suite, effort: str, other: Source | None) -> Path:
    against = f"-against-{other.label}" if other else ""
    out = suite.out or f"bench-{suite.name}"
    return ROOT / "build" / out / f"{effort}{against}"


def _is_complete_main_run(options: argparse.Namespace, names: Sequence[str]) -> bool:
    suite = SUITES["main"]
    partial = options.engines or options.against or list(names) != [*suite.workloads]
    return options.suite == "main" and options.effort == "full" and not partial


def _interpreters(options: argparse.Namespace) -> dict[str, str] | None:
    """Return the given interpreters by kind; None: the environments of engines."""
    if options.here:
        return {"gil" if gil_is_on() else "ft": sys.executable}
    given = {kind: getattr(options, kind) for kind in ("gil", "ft")}
    # Not resolved: the interpreter of an environment is a link.
    found = {
        kind: str(Path(path).absolute()) if "/" in path else path
        for kind, path in given.items()
        if path
    }
    return found or None


def measure(
    workloads: Sequence[Workload],
    options: argparse.Namespace,
    other: Source | None,
    store: Store,
    display: Display,
) -> None:
    """Set up engines and measure what is not there yet.

    Raises:
        SetUpError: The other build cannot be made.
    """
    pythons = _interpreters(options)
    if not options.here:
        # Engines see the packages of their own environments only.
        os.environ.pop("PYTHONPATH", None)
    used = {e for w in workloads for e in w.engines}
    if other is not None and not options.engines:
        used = {engine for engine in used if ENGINES[engine].ours}
    asked = [e for e in ENGINES if e in used and e in (options.engines or used)]
    found, missing = places(asked, pythons, display.say)
    for name, why in missing.items():
        display.complain(f"{name} is missing: {headline(why)}")
    if other is not None:
        ours = {name: place for name, place in found.items() if ENGINES[name].ours}
        found |= both_builds(ours, other, display.say)
        asked += [name for name in found if name not in asked]
    is_done = nothing_is_done if options.fresh else store.is_done
    plan = make_plan(
        workloads, found, options.effort, free_memory(), options.sets, is_done
    )
    turns_per_us = {} if options.fresh else store.turns_per_us()
    for name, place in found.items() if any(w.calibrated for w in workloads) else ():
        python = ENGINES[name.partition("@")[0]].python
        if python not in turns_per_us:
            turns_per_us[python] = ask(place.python, "turns_per_us")
    run = Run(
        effort=options.effort,
        files={f: key for each in plan.case_sets for f, key in each.files().items()},
        machine=machine_facts(),
        engines={name: place.facts for name, place in found.items()},
        missing=missing,
        left_out=dict(plan.left_out),
        workloads=[workload.name for workload in workloads],
        asked=asked,
        suite=options.suite,
        turns_per_us=turns_per_us,
    )
    store.begin(run)
    done = {id(each) for each in plan.case_sets if is_done(each)}
    measure_all(plan, done, found, run, store, display)


def measure_all(
    plan: Plan,
    done: set[int],
    found: Mapping[str, Place],
    run: Run,
    store: Store,
    display: Display,
) -> None:
    """Measure set by set, and store each as soon as it is complete."""
    display.begin(len(plan.case_sets), already=len(done))
    with CalmProbes(sys.executable) as probes:
        for sharing in plan.by_processes():
            left = [each for each in sharing if id(each) not in done]
            if not left:
                continue
            processes = Processes(found)
            names = {each.process_of(j): j.engine for each in left for j in each.keys}
            display.case(f"starting {', '.join(names)}")
            try:
                processes.start(names.items())
                for case_set in left:
                    display.case(case_set.label)
                    turns = Turns(case_set, processes, probes, run.turns_per_us)
                    turns.run()
                    store.add(case_set, turns.results, run.machine, run.engines)
                    for failure in turns.failures:
                        display.complain(
                            f"{failure.job.label}: {headline(failure.reason)}"
                        )
                    display.advance()
                processes.end()
            finally:
                processes.kill()


def finish(store: Store, display: Display, *, docs: bool, judged: bool) -> int:
    """Write the report and print the claims; return the exit status.

    Raises:
        StoreError: Results are missing or damaged.
    """
    run, results = store.read()
    text = report.write(run, results, store.directory)
    written = [store.directory / report.PAGE]
    if docs and SUITES[run.suite].docs:
        written.append(report.write_docs(run, results, DOCS))
    for path in written:
        display.say(f"Written: {path}")
    if run.suite != "main":
        display.markdown(text)
    claims = report.claims_of(report.outcomes(run, results))
    display.claims(claims)
    if run.effort == "smoke":
        return int(bool(results.failures))
    missed = judged and any(claim.verdict == "missed" for claim in claims)
    return int(bool(results.failures or errors(results) or missed))
