# SPDX-License-Identifier: Apache-2.0
"""A source file in memory, and places in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text: offsets of its first character and of its end."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the stretch from the start of this one to the end of ``other``."""
        return Span(self.start, other.end)


NOWHERE = Span(0, 0)
"""The span of what no source says, e.g. a tree that was made by hand."""


@dataclass(frozen=True)
class Source:
    """The text of one ``.lf`` file.

    Line ends are as in the file; the text has been decoded already.
    """

    path: Path
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        text = self.text
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return starts

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the place of an offset; lines and columns count from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return a line, without its end; lines count from 1."""
        starts = self._line_starts
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")
