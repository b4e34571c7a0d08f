# SPDX-License-Identifier: Apache-2.0
"""Positions in ``.lf`` files, for errors and tracebacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reactorl.position import Position

if TYPE_CHECKING:
    from reactorl.diagnostics import Diagnostic
    from reactorl.lf.link.program import Part
    from reactorl.lf.source import Source, Span


LONGEST_LINE: Final = 160
"""Longer source lines are shown as an excerpt around the column."""


@dataclass(frozen=True, slots=True)
class SourcePosition(Position):
    """A span of a ``.lf`` file."""

    source: Source = field(compare=False, repr=False, kw_only=True)
    span: Span = field(repr=False, kw_only=True)

    __str__ = Position.__str__

    def excerpt(self) -> list[str]:
        """Return the source line with carets below the span."""
        line, column = self.line, self.column
        text = self.source.line(line)
        width = max(1, min(self.span.end - self.span.start, len(text) - column + 1))
        before = text[: column - 1]
        if len(text) > LONGEST_LINE:
            cut = max(0, column - 1 - LONGEST_LINE // 2)
            text = text[cut : cut + LONGEST_LINE]
            before = before[cut:]
            width = max(1, min(width, LONGEST_LINE - len(before)))
        text = "".join(
            c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}"
            for c in text
        )
        # Tabs stay tabs, so that the caret is below the column in any editor.
        pad = "".join("\t" if c == "\t" else " " for c in before)
        margin = " " * len(str(line))
        return [f"  {line} | {text}", f"  {margin} | {pad}{'^' * width}"]


def position(source: Source, span: Span) -> SourcePosition:
    """Return the position of a span."""
    line, column = source.line_and_column(span.start)
    return SourcePosition(str(source.path), line, column, source=source, span=span)


def path_of(diagnostic: Diagnostic) -> Path:
    """Return the file that a diagnostic is about."""
    where = diagnostic.where
    assert where is not None  # every diagnostic about LF has a file
    return where.source.path if isinstance(where, SourcePosition) else Path(where.file)


def span_of(diagnostic: Diagnostic) -> Span | None:
    """Return the span that a diagnostic is about; None: the file as a whole."""
    where = diagnostic.where
    return where.span if isinstance(where, SourcePosition) else None


def place_of(part: Part) -> SourcePosition:
    """Return the position of a member: of its name, if it has one."""
    member = part.member
    name = getattr(member, "name", None)
    span = member.span if name is None else name.span
    return position(part.owner.file.source, span)
