# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown, and numbers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from benchmarks.harness.results import Spread


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()
) -> str:
    """Return a table; columns of numbers are aligned to the right."""
    rule = ["---:" if i in numbers else "---" for i in range(len(head))]
    lines = [" | ".join(_cell(cell) for cell in row) for row in (head, *rows)]
    lines.insert(1, " | ".join(rule))
    return "".join(f"| {line} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def seconds_text(seconds: float) -> str:
    """Return a time with its unit."""
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def number_text(number: float) -> str:
    """Return a number in three digits or more, never as a power of ten."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def time_text(spread: Spread) -> str:
    """Return a median time, and how far the farthest set is from it."""
    middle = spread.median
    if len(spread.values) < 2:
        return seconds_text(middle)
    off = max(spread.high - middle, middle - spread.low) / middle
    return f"{seconds_text(middle)} ±{off:.0%}"
