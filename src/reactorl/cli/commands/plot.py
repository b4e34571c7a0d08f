# SPDX-License-Identifier: Apache-2.0
"""``reactorl plot``: the learning curves of runs in one figure."""

from __future__ import annotations

import argparse
from pathlib import Path

from reactorl.cli.support.errors import fail, missing

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
    from reactorl.rl import RunDirectory, RunError
    from reactorl.rl.runs.plot import KINDS, draw, read_curve

    output: Path = args.output
    if output.suffix.lstrip(".").lower() not in KINDS:
        kinds = ", ".join(f".{kind}" for kind in KINDS)
        what = f"output must be a .png or .svg file, got '{output}'"
        return fail(what, help=f"Choose {kinds}.")
    try:
        runs = [RunDirectory.open(path) for path in args.runs]
        curves = [read_curve(run.path.name, run.metrics) for run in runs]
    except RunError as error:
        return fail(error)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return fail(f"{error.filename}: {reason}")
    envs = ", ".join(dict.fromkeys(run.env_id for run in runs))
    try:
        draw(curves, envs, [output])
    except OSError as error:  # it may name the temporary file
        return fail(f"{output}: {(error.strerror or str(error)).lower()}")
    print(output)
    return 0
