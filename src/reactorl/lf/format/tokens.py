# SPDX-License-Identifier: Apache-2.0
"""Tokens of the printer, and the layout between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.lf.source import Span


class Layout(Enum):
    """Whitespace between two tokens."""

    SPACE = auto()
    SOFT = auto()
    """A space, or a line end if the line is too long."""
    LINE = auto()
    BLANK = auto()
    """A line end and an empty line."""
    INDENT = auto()
    DEDENT = auto()
    OPEN = auto()
    """The beginning of a list: one item per line if the source has a line end here."""
    CLOSE = auto()


class Spelling(Enum):
    """How a token may differ from the source."""

    EXACT = auto()
    BOOL = auto()
    """``true`` and ``True`` are one tree; the source's spelling is kept."""
    DIGITS = auto()
    """``5`` and ``005`` are one tree; the source's spelling is kept."""
    MODIFIER = auto()
    """``main``, ``federated`` and ``realtime`` stay in the source's order."""
    CODE = auto()
    """A code block, which is indented again."""
    OPAQUE = auto()
    """The text of the span as in the source, e.g. of a host."""


@dataclass(slots=True)
class NearbyComment:
    """A comment and its position relative to the tokens.

    Attributes:
        newlines: The number of line ends before it.
        column: Its column in the source, from 0.
    """

    text: str
    newlines: int
    column: int

    @property
    def to_line_end(self) -> bool:
        """Whether it ends with its line."""
        return self.text.startswith(("//", "#"))


@dataclass(slots=True)
class Gap:
    """Comments and line ends of the source before a token.

    Attributes:
        newlines: The number of line ends between the token and the preceding token or
            comment; the maximum if omitted tokens are in between.
    """

    comments: list[NearbyComment] = field(default_factory=list)
    newlines: int = 0

    def broken(self) -> bool:
        """Return whether the token is on another line than the one before it."""
        return self.newlines > 0 or any(c.newlines for c in self.comments)


@dataclass(slots=True)
class Token:
    """A keyword, name, punctuation, literal or code block."""

    text: str
    spelling: Spelling = Spelling.EXACT
    span: Span | None = None
    gap: Gap = field(default_factory=Gap)

    @property
    def mark(self) -> str:
        """Its text; ``{=`` for code, whose text could equal punctuation."""
        return "{=" if self.spelling is Spelling.CODE else self.text


END = ""
"""The text of the token at the end of the file."""
