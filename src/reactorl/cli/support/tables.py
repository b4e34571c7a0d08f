# SPDX-License-Identifier: Apache-2.0
"""Tables for people: drawn by Rich on a terminal if it is there, else plain text."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from reactorl.cli.support.console import coloured

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Table:
    """Something with a title: rows below a head, sentences below these.

    The first column is to the left, the others are numbers. A table without a head
    has only its sentences.
    """

    title: str
    head: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    notes: Sequence[str] = field(default=())


def show_tables(tables: Sequence[Table]) -> None:
    """Print tables on stdout, with an empty line between them."""
    if coloured(sys.stdout) and find_spec("rich") is not None:
        _show_rich(tables)
        return
    print("\n\n".join(plain(table) for table in tables))


def plain(table: Table) -> str:
    """Return a table as plain text, aligned."""
    lines = [_safe(table.title)]
    if table.rows:
        rows = [table.head, *(tuple(map(_safe, row)) for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            rest = zip(row[1:], widths[1:], strict=True)
            line = f"  {row[0]:<{widths[0]}}" + "".join(f"  {t:>{w}}" for t, w in rest)
            lines.append(line.rstrip())
    lines += [f"  {_safe(note)}" for note in table.notes]
    return "\n".join(lines)


def _safe(text: str) -> str:
    """Return text without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _show_rich(tables: Sequence[Table]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(highlight=False)
    for number, table in enumerate(tables):
        if number:
            console.print()
        console.print(Text(_safe(table.title), style="bold"))
        if table.rows:
            drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
            for k, name in enumerate(table.head):
                drawn.add_column(Text(name), justify="right" if k else "left")
            for row in table.rows:
                drawn.add_row(*(Text(_safe(cell)) for cell in row))
            console.print(drawn)
        for note in table.notes:
            console.print(Text(f"  {_safe(note)}"))
