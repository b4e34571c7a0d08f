# SPDX-License-Identifier: Apache-2.0
"""What the printer makes of a tree: tokens, and between them how they are laid out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.lf.source import Span


class Layout(Enum):
    """What stands between two tokens, beside comments."""

    SPACE = auto()
    SOFT = auto()
    """A space, or a line end where the line gets too long."""
    LINE = auto()
    BLANK = auto()
    """A line end and an empty line."""
    INDENT = auto()
    DEDENT = auto()
    OPEN = auto()
    """The beginning of a list: one item per line if its author broke the line here."""
    CLOSE = auto()


class Spelling(Enum):
    """How a token may differ from what the source says."""

    EXACT = auto()
    BOOL = auto()
    """``true`` and ``True`` are one tree; the source's spelling is kept."""
    DIGITS = auto()
    """``5`` and ``005`` are one tree; the source's spelling is kept."""
    MODIFIER = auto()
    """``main``, ``federated`` and ``realtime`` stay in the source's order."""
    CODE = auto()
    """A code block, which is indented anew."""
    OPAQUE = auto()
    """Whatever stands in the span, e.g. a host, with blanks or not."""


@dataclass(slots=True)
class NearbyComment:
    """A comment on its way from the source to the formatted text.

    Attributes:
        newlines: How many line ends stand between it and what precedes it.
        column: Where it began in its line, from 0.
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
    """What the source has before a token.

    Attributes:
        newlines: How many line ends stand between the token and what precedes it,
            be it a token or a comment; the most in one stretch of blanks.
    """

    comments: list[NearbyComment] = field(default_factory=list)
    newlines: int = 0

    def broken(self) -> bool:
        """Return whether the token stands on another line than the one before it."""
        return self.newlines > 0 or any(c.newlines for c in self.comments)


@dataclass(slots=True)
class Token:
    """A word, a mark, a literal or a code block of the text."""

    text: str
    spelling: Spelling = Spelling.EXACT
    span: Span | None = None
    gap: Gap = field(default_factory=Gap)

    @property
    def mark(self) -> str:
        """Its text, to tell marks such as ``,`` from code that reads the same."""
        return "{=" if self.spelling is Spelling.CODE else self.text


END = ""
"""The text of the token that stands for the end of the file."""
