# SPDX-License-Identifier: Apache-2.0
"""Places in ``.lf`` files as positions: what errors and tracebacks speak of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reactorl.position import Position

if TYPE_CHECKING:
    from reactorl.lf.link.program import Part
    from reactorl.lf.source import Source, Span


@dataclass(frozen=True, slots=True)
class SourcePosition(Position):
    """A place in a ``.lf`` file, to the character."""

    source: Source = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)

    __str__ = Position.__str__


def position(source: Source, span: Span) -> SourcePosition:
    """Return the place of a stretch of source."""
    line = source.line_and_column(span.start)[0]
    return SourcePosition(str(source.path), line, source, span)


def place_of(part: Part) -> SourcePosition:
    """Return where a member is: where its name stands, if it has one."""
    member = part.member
    name = getattr(member, "name", None)
    span = member.span if name is None else name.span
    return position(part.owner.file.source, span)
