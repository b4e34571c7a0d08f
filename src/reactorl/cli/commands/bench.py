# SPDX-License-Identifier: Apache-2.0
"""``reactorl bench``: compare with Ray and other engines in one run.

The benchmarks are in the source tree, not in the package: they build the package and
create virtual environments for the other engines. This command calls them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl.cli.support.errors import fail, missing
from reactorl.diagnostics import Diagnostic

if TYPE_CHECKING:
    import argparse

DESCRIPTION = """\
Compare ReactoRL with Ray and other engines: every workload on every engine, in
turns, in one run. Each engine is installed in its own virtual environment.
Results, tables and plots are written to a directory, from which an interrupted
run continues; a complete --full run also writes docs/benchmarks.md. Other
suites measure parts of ReactoRL; --against compares it with another revision.

Requires a checkout of the source.
"""
EPILOG = """\
examples:
  reactorl bench --quick                       all workloads, at most 6 minutes
  reactorl bench actors --engines ours-ft ray-actors
  reactorl bench --full --report               only rewrite the report
  reactorl bench --suite vector --against HEAD~1

exit status: 0; 1 if a claim does not hold, or engines failed or disagree; 2 for
wrong arguments or unreadable results; 130 after Ctrl-C (the same command
continues).
"""
NEEDED = ("rich", "matplotlib")
SWITCHES = ("--quick", "--full", "--smoke", "--fresh", "--report", "--docs")
OPTIONS = ("--suite", "--out", "--sets", "--against", "--gil", "--ft")
"""Options of the benchmarks, which are accepted without a checkout as well."""
NO_CHECKOUT = Diagnostic(
    "'reactorl bench' requires a checkout of the source: benchmarks are not installed",
    remedy="Get the source of ReactoRL, and run there: make bench",
)


def checkout() -> Path | None:
    """Return the checkout that contains this package or is the working directory."""
    for place in (Path(__file__).parents[4], Path.cwd()):
        if (place / "benchmarks" / "harness" / "command.py").is_file():
            return place
    return None


def _benchmarks() -> Any:  # noqa: ANN401
    """Return the module of the benchmarks; None without a checkout."""
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
    )
    benchmarks = _benchmarks()
    if benchmarks is None:
        help = "explained in a checkout"
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
    """Run the benchmarks; return the exit status."""
    benchmarks = _benchmarks()
    if benchmarks is None:
        lacking = missing(NEEDED, "bench") if checkout() else None
        return fail(lacking or NO_CHECKOUT)
    status: int = benchmarks.command(args)
    return status
