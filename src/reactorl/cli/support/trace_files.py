# SPDX-License-Identifier: Apache-2.0
"""Finds the trace files in the directory of a training run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.errors import TraceError

if TYPE_CHECKING:
    from pathlib import Path


def trace_of(path: Path) -> Path:
    """Return the trace file: the path itself, or the newest one of a run.

    Raises:
        TraceError: The directory contains no trace.
    """
    if not path.is_dir():
        return path
    found = traces_in(path)
    if not found:
        what = f"{path}: the directory contains no trace"
        remedy = "Train with --trace (events) or --timing (execution times)."
        raise TraceError(what, None, remedy)
    return found[max(found)]


def traces_in(directory: Path) -> dict[int, Path]:
    """Return the traces in a run's directory, by the number of the first iteration."""
    found = {}
    for path in sorted(directory.glob("rounds-from-*.trace.gz")):
        number = path.name.removeprefix("rounds-from-").removesuffix(".trace.gz")
        if number.isascii() and number.isdecimal():
            found[int(number)] = path
    return found
