# SPDX-License-Identifier: Apache-2.0
"""Where two runs diverge, by the content of their directories: metrics and checkpoints.

Traces (``--trace``) show the reaction and the port as well.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from reactorl.rl._public import public
from reactorl.rl.checkpoint.file import read_checkpoint
from reactorl.rl.runs.directory import RunDirectory
from reactorl.rl.runs.metrics import SPEED, read_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOW = "  Train both with --trace to find the tag, the reaction and the port."


@public
def compare_runs(a: Path, b: Path, *, traced: bool) -> tuple[bool, str]:
    """Return whether two runs have the same results, and a description.

    Args:
        a: Directory of the first run.
        b: Directory of the second run.
        traced: Whether traces were compared before, and are the same.

    Raises:
        RunError: A directory has no run.
        CheckpointError: A checkpoint cannot be read.
    """
    one, other = RunDirectory.open(a), RunDirectory.open(b)
    found = _compare_metrics(one, other) or _compare_checkpoints(one, other)
    settings = _settings(one, other)
    names = [f"  A: {a}", f"  B: {b}"]
    if found is None:
        same = "the runs are identical: metrics and checkpoints"
        return True, "\n".join([f"{same}{', and traces' if traced else ''}", *settings])
    return False, "\n".join([found, *names, *settings, *([] if traced else [_HOW])])


def _settings(a: RunDirectory, b: RunDirectory) -> list[str]:
    lines = []
    mine, others = a.config["algorithm"], b.config["algorithm"]
    if mine != others:
        lines.append(f"  A trains {mine}, B trains {others}.")
    one, other = a.config["settings"], b.config["settings"]
    return lines + [
        f"  A has {name} {one.get(name)!r}, B has {other.get(name)!r}."
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def _compare_metrics(a: RunDirectory, b: RunDirectory) -> str | None:
    """Compare the metrics, except for speeds."""
    last = 0
    for mine, other in zip_longest(_rows(a), _rows(b)):
        if mine == other:
            last = mine[0]
            continue
        if mine is None or other is None:
            ended, more = ("A", "B") if mine is None else ("B", "A")
            step = (mine or other)[0]
            return (
                f"the runs diverge after step {last}: {ended} has no more metrics, "
                f"{more} continues with step {step}"
            )
        step = min(mine[0], other[0])
        where = f"the runs diverge at step {step}"
        if mine[:2] == other[:2]:
            return f"{where}: {mine[1]} is {mine[2]} in A, {other[2]} in B"
        return (
            f"{where}: A has {mine[1]} = {mine[2]} (step {mine[0]}), "
            f"B has {other[1]} = {other[2]} (step {other[0]})"
        )
    return None


def _rows(run: RunDirectory) -> Iterator[tuple[int, str, str]]:
    if run.metrics.exists():
        for step, _, key, value in read_metrics(run.metrics):
            if key != SPEED:
                yield step, key, repr(value)


def _compare_checkpoints(a: RunDirectory, b: RunDirectory) -> str | None:
    """Compare the newest checkpoints."""
    have = a.checkpoint.exists(), b.checkpoint.exists()
    if have == (False, False):
        return None
    if not all(have):
        lacks, other = ("B", "A") if have[0] else ("A", "B")
        return f"the metrics are identical; {lacks} has no checkpoint, {other} has one"
    mine, others = (read_checkpoint(run.checkpoint).data for run in (a, b))
    found = next(_different(mine, others, ()), None)
    if found is None:
        return None
    path, words = found
    return (
        f"the metrics are identical, the checkpoints differ: {'.'.join(path)} {words}"
    )


def _different(
    a: Any,  # noqa: ANN401
    b: Any,  # noqa: ANN401
    path: tuple[str, ...],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where two trees of plain data differ."""
    import numpy as np

    if type(a) is not type(b):
        yield path, f"is {_brief(a)} in A, {_brief(b)} in B"
    elif isinstance(a, dict):
        for name in sorted(a.keys() | b.keys(), key=str):
            inner = (*path, str(name))
            if name not in a or name not in b:
                yield inner, f"is only in {'A' if name in a else 'B'}"
            else:
                yield from _different(a[name], b[name], inner)
    elif isinstance(a, list | tuple):
        if len(a) != len(b):
            yield path, f"has {len(a)} entries in A, {len(b)} in B"
        for k, (mine, other) in enumerate(zip(a, b, strict=False)):
            yield from _different(mine, other, (*path, str(k)))
    elif isinstance(a, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            shapes = (f"{x.dtype}{list(x.shape)}" for x in (a, b))
            yield path, "is {} in A, {} in B".format(*shapes)
        elif a.tobytes() != b.tobytes():
            unlike = np.atleast_1d((a != b) & ~((a != a) & (b != b)))
            place = np.argwhere(unlike)
            if not len(place):
                yield path, "differs in its bits, not in its numbers"
                return
            at = tuple(int(k) for k in place[0])
            one, other = np.atleast_1d(a)[at], np.atleast_1d(b)[at]
            many = f"{len(place):,} of {a.size:,} numbers differ"
            yield path, f"{list(at)} is {one!s} in A, {other!s} in B ({many})"
    elif repr(a) != repr(b):
        yield path, f"is {_brief(a)} in A, {_brief(b)} in B"


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
