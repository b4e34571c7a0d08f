# SPDX-License-Identifier: Apache-2.0
"""``reactorl runs``: a table of all runs with their progress and returns."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from reactorl.cli.support.console import say
from reactorl.cli.support.errors import fail, missing, reason

if TYPE_CHECKING:
    from reactorl.rl import RunDirectory

DESCRIPTION = """\
List the runs in a directory, oldest first: start time, number of steps, mean
return of the last 100 training episodes, and mean return of the final (or else
the last) evaluation.
"""
EPILOG = """\
examples:
  reactorl runs
  reactorl runs --runs-dir elsewhere

exit status: 0, or 2 if the directory does not exist.
"""
NEEDED = ("numpy", "gymnasium")
_HEAD = ("run", "began", "steps", "return", "final return")


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "runs",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--runs-dir",
        type=Path,
        default=Path("runs"),
        metavar="DIR",
        help="their directory (default: runs)",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """List runs; return the exit status."""
    lacking = missing(NEEDED, "runs")
    if lacking:
        return fail(lacking)
    from reactorl.rl import runs_in

    if not args.runs_dir.is_dir():
        what = f"directory '{args.runs_dir}' does not exist"
        return fail(what, help="Give the directory: --runs-dir DIR")
    rows = [_HEAD, *(_row(run) for run in runs_in(args.runs_dir))]
    if len(rows) == 1:
        print(f"no runs in {args.runs_dir}")
        return 0
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEAD))]
    for row in rows:
        left = f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}"
        rest = zip(row[2:], widths[2:], strict=True)
        print(left + "".join(f"  {text:>{width}}" for text, width in rest))
    return 0


def _row(run: RunDirectory) -> tuple[str, ...]:
    began = time.localtime(int(run.config.get("began", 0)))
    head = run.path.name, time.strftime("%Y-%m-%d %H:%M", began)
    try:
        found = run.summary()
    except OSError as error:  # the others are listed all the same
        say(f"reactorl: warning: {reason(error)}\n")
        return *head, "-", "-", "-"
    returns = _number(found.mean_return), _number(found.final_return)
    return *head, f"{found.steps:,}", *returns


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
