# SPDX-License-Identifier: Apache-2.0
"""``reactorl diff``: show where two runs first diverge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reactorl.cli.support.errors import fail, reason
from reactorl.cli.support.trace_files import trace_of, traces_in
from reactorl.errors import ReactorlError, TraceError

if TYPE_CHECKING:
    import argparse

    from reactorl.trace import SavedTrace

DESCRIPTION = """\
Show where two runs first diverge: the tag, the reaction and the port, with both
values. A and B are trace files ('reactorl run FILE.lf --trace FILE',
result.save_trace(FILE)) or directories of training runs. Training runs that
have no trace ('reactorl train ... --trace') are compared by their metrics and
weights.

Execution times are not compared.
"""
EPILOG = """\
examples:
  reactorl diff one.trace two.trace
  reactorl diff runs/CartPole-v1__dqn__1__17 runs/CartPole-v1__dqn__1__18

exit status: 0 if the runs are identical, 1 if they diverge, 2 if they cannot be
compared.
"""


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "diff",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument(
        "a",
        type=Path,
        metavar="A",
        help="a trace file, or the directory of a training run",
    )
    parser.add_argument("b", type=Path, metavar="B", help="the other run")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Compare two runs; return the exit status."""
    try:
        same, words = compared(args.a, args.b)
    except ReactorlError as error:
        return fail(error)
    except OSError as error:
        return fail(reason(error, f"{args.a} or {args.b}"))
    print(words)
    return 0 if same else 1


def compared(a: Path, b: Path) -> tuple[bool, str]:
    """Return whether two runs are identical, and a description.

    Raises:
        TraceError: A trace cannot be read, or a file is not a trace.
        ReactorlError: A run's directory cannot be read.
        OSError: A file cannot be read.
    """
    if a.is_dir() and b.is_dir():
        mine, others = traces_in(a), traces_in(b)
        both = sorted(mine.keys() & others.keys())
        kept = [(mine[first], others[first]) for first in both]
        for one, other in kept:
            found = _traces(one, other)
            if found is not None and not found[0]:
                return found
        from reactorl.rl import compare_runs

        return compare_runs(a, b, traced=bool(kept))
    found = _traces(trace_of(a), trace_of(b))
    if found is None:
        what = f"{a} and {b} contain times only, which differ from run to run"
        raise TraceError(what, None, "Compare runs with a trace ('--trace FILE').")
    return found


def _traces(a: Path, b: Path) -> tuple[bool, str] | None:
    """Compare two files; None if neither contains a trace."""
    from reactorl.trace import diff, digest, load

    one, other = load(a), load(b)
    if not one.kept and not other.kept:
        return None
    for path, saved in ((a, one), (b, other)):
        if not saved.kept:
            what = f"{path}: the file contains times only"
            remedy = "Run again with '--trace FILE', or run(..., trace=True)."
            raise TraceError(what, None, remedy)
    difference = diff(one.trace, other.trace)
    if difference is None:
        many = len(one.trace)
        words = (
            f"the runs are identical: {many:,} tags, digest {digest(one.trace)[:16]}"
        )
        return True, words
    lines = [str(difference), f"  A: {a}", f"  B: {b}", *_context(one, other)]
    return False, "\n".join(lines)


def _context(a: SavedTrace, b: SavedTrace) -> list[str]:
    """Return lines on other differences, which may be the reason."""
    lines = []
    if a.program != b.program:
        lines.append("  The programs differ.")
    if a.seed != b.seed:
        lines.append(f"  A has seed {a.seed}, B has seed {b.seed}.")
    lines += [
        f"  A ran with {name}={a.options.get(name)}, B with {b.options.get(name)}."
        for name in sorted(a.options.keys() | b.options.keys())
        if a.options.get(name) != b.options.get(name)
    ]
    return lines
