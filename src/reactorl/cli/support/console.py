# SPDX-License-Identifier: Apache-2.0
"""Output for people: styled by Rich on a terminal, plain text everywhere else.

A message is a sequence of parts. A part is a string, or a string with a Rich style, so
styles are given where a message is made. Without Rich, in a file, in a pipe, with
``NO_COLOR`` or ``TERM=dumb`` the parts are printed as they are.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, TextIO, TypeAlias

from reactorl.cli.support.streams import discard, repair_streams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

Part: TypeAlias = "str | tuple[str, str]"
"""Text, or text and its Rich style."""


class _Detail:
    """Whether errors are shown with all details; set once for each command."""

    debug = False


def set_debug(*, on: bool) -> None:
    """Choose whether errors are shown with all details."""
    _Detail.debug = on


def debugging() -> bool:
    """Return whether errors are shown with all details."""
    return _Detail.debug


def is_styled(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether text on a stream has styles.

    ``NO_COLOR`` (no-color.org) takes precedence over ``FORCE_COLOR``, which takes
    precedence over the kind of stream.
    """
    if environ.get("NO_COLOR"):
        return False
    capable = is_terminal(stream) and environ.get("TERM") != "dumb"
    wanted = capable or bool(environ.get("FORCE_COLOR"))
    return wanted and find_spec("rich") is not None


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal; a closed one is not."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def say(*parts: Part, stream: TextIO | None = None) -> None:
    """Print a message, without a newline at its end, after all earlier output.

    Args:
        parts: The parts of the message.
        stream: Where to print it; stderr if it is not given.
    """
    repair_streams()
    sys.stdout.flush()
    if stream is not None:
        _print(parts, stream)
        return
    try:
        _print(parts, sys.stderr)
    except OSError:  # e.g. a closed pipe: the exit status still says what happened
        discard(sys.stderr)


def _print(parts: Sequence[Part], stream: TextIO) -> None:
    if is_styled(stream):
        from rich.text import Text

        pieces = [p if isinstance(p, tuple) else (p, "") for p in parts]
        styled = Text.assemble(*((printable(text), style) for text, style in pieces))
        _console(stream).print(styled, end="", soft_wrap=True)
    else:
        text = plain(parts)
        stream.write(printable(text) if is_terminal(stream) else text)
    stream.flush()


def plain(parts: Sequence[Part]) -> str:
    """Return a message without its styles."""
    return "".join(part if isinstance(part, str) else part[0] for part in parts)


def printable(text: str) -> str:
    """Return text without control characters, which a terminal would obey."""
    return "".join(
        c if c.isprintable() or c in "\t\n" else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    return Console(file=stream, force_terminal=True, highlight=False, emoji=False)


# -- tables ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a title and a header, and notes below them.

    The first column is aligned to the left, the others to the right.
    """

    title: str
    head: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    notes: Sequence[str] = ()


def show_tables(tables: Sequence[Table]) -> None:
    """Print tables to stdout, with an empty line between them."""
    if is_styled(sys.stdout):
        _show_rich(tables)
    else:
        print("\n\n".join(plain_table(table) for table in tables))


def plain_table(table: Table) -> str:
    """Return a table as aligned plain text."""
    lines = [_cell(table.title)]
    if table.rows:
        rows = [table.head, *(tuple(map(_cell, row)) for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            rest = zip(row[1:], widths[1:], strict=True)
            line = f"  {row[0]:<{widths[0]}}" + "".join(f"  {t:>{w}}" for t, w in rest)
            lines.append(line.rstrip())
    lines += [f"  {_cell(note)}" for note in table.notes]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return printable(text).replace("\n", " ").replace("\t", " ")


def _show_rich(tables: Sequence[Table]) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    console = _console(sys.stdout)
    for number, table in enumerate(tables):
        if number:
            console.print()
        console.print(Text(_cell(table.title), style="bold"))
        if table.rows:
            drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
            for k, name in enumerate(table.head):
                drawn.add_column(Text(name), justify="right" if k else "left")
            for row in table.rows:
                drawn.add_row(*(Text(_cell(cell)) for cell in row))
            console.print(drawn)
        for note in table.notes:
            console.print(Text(f"  {_cell(note)}"))
