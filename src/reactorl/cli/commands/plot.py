# SPDX-License-Identifier: Apache-2.0
"""``reactorl plot``: the learning curves of runs in one figure."""

from __future__ import annotations

import argparse
from pathlib import Path

from reactorl.cli.support.errors import fail, missing, reason

DESCRIPTION = """\
Plot the learning curves of runs in one figure: lines are the mean return of the
last 100 training episodes, dots are evaluations.
"""
EPILOG = """\
examples:
  reactorl plot runs/*                   all curves, in runs.png
  reactorl plot runs/a runs/b -o ab.svg

exit status: 0, or 2 if a run cannot be read or the figure cannot be written.
"""
NEEDED = ("numpy", "gymnasium", "matplotlib")


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "plot",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="directories of runs"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("runs.png"),
        metavar="FILE",
        help="a .png or .svg file (default: runs.png)",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Plot; return the exit status."""
    lacking = missing(NEEDED, "plot")
    if lacking:
        return fail(lacking)
    from reactorl.rl import RunDirectory, RunError, plot_runs

    try:
        plot_runs([RunDirectory.open(path) for path in args.runs], args.output)
    except RunError as error:
        return fail(error)
    except ValueError as error:
        return fail(str(error))
    except OSError as error:
        return fail(reason(error, args.output))
    print(args.output)
    return 0
