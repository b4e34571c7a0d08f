# SPDX-License-Identifier: Apache-2.0
"""``reactorl bench``: ReactoRL beside Ray and other engines, measured in one run.

The benchmarks are part of the source, not of the package: they build the package and
make environments for the engines it is compared with. This command calls them.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from reactorl.cli.support.needs import fail, missing

DESCRIPTION = """\
Compare ReactoRL with Ray and today's peers: every workload on every engine, in
turns, in one run. Engines are set up first, each in a virtual environment of
its own. Results, with tables and plots, are written to a directory from which
an interrupted run continues; a complete --full run also writes
docs/benchmarks.md. Other suites compare parts of ReactoRL, and --against
compares it with another revision of itself.

This needs a checkout of the source.
"""
EPILOG = """\
examples:
  reactorl bench --quick                       everything, in at most 6 minutes
  reactorl bench actors --engines ours-ft ray-actors
  reactorl bench --full --report               only write the report again
  reactorl bench --suite vector --against HEAD~1

exit status: 0; 1 if a claim is missed or engines failed or disagree; 2 for
invalid arguments or results that cannot be read; 130 after Ctrl-C, and the same
command continues.
"""
NEEDED = ("rich", "matplotlib")
SWITCHES = ("--quick", "--full", "--smoke", "--fresh", "--report", "--docs")
OPTIONS = ("--suite", "--out", "--sets", "--against", "--gil", "--ft")
"""Arguments of the benchmarks' own command, accepted without a checkout as well."""
NO_CHECKOUT = """\
'reactorl bench' needs a checkout of the source: the benchmarks are not installed
  help: Get the source of ReactoRL, and there run: make bench"""


def checkout() -> Path | None:
    """Return the checkout that this package, or the working directory, is in."""
    for place in (Path(__file__).parents[4], Path.cwd()):
        if (place / "benchmarks" / "harness" / "command.py").is_file():
            return place
    return None


def _benchmarks() -> Any:  # noqa: ANN401
    """Return the module of the benchmarks' own command; None without a checkout."""
    place = checkout()
    if place is None or missing(NEEDED, "bench"):
        return None
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))
    return import_module("benchmarks.harness.command")


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "bench",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    benchmarks = _benchmarks()
    if benchmarks is None:
        help = "described where there is a checkout"
        parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=help)
        parser.add_argument("--engines", nargs="+", metavar="ENGINE", help=help)
        for option in OPTIONS:
            parser.add_argument(option, help=help)
        for option in (*SWITCHES, "--here", "--no-verdict"):
            parser.add_argument(option, action="store_true", help=help)
    else:
        benchmarks.add_arguments(parser)
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Measure and report; return the exit status."""
    benchmarks = _benchmarks()
    if benchmarks is None:
        return fail(missing(NEEDED, "bench") if checkout() else NO_CHECKOUT)
    status: int = benchmarks.command(args)
    return status
