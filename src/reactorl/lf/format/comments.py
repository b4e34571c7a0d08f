# SPDX-License-Identifier: Apache-2.0
"""Attaches the comments and empty lines of a source to the printer's tokens.

The printer prints the tokens in the order of the source and omits only those without
meaning (``;``, a trailing comma, empty parentheses, parentheses around the left side of
a connection). So one pass over both finds what precedes each token.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reactorl.lf.format.tokens import (
    END,
    Gap,
    Layout,
    NearbyComment,
    Spelling,
    Token,
)

if TYPE_CHECKING:
    from reactorl.lf.format.expressions import Pieces
    from reactorl.lf.parse.syntax import Comment
    from reactorl.lf.source import Source

_BLANKS = re.compile(r"\s*")
_PATTERNS = {
    Spelling.BOOL: re.compile(r"[Tt]rue|[Ff]alse"),
    Spelling.DIGITS: re.compile(r"[+-]?\d+"),
    Spelling.MODIFIER: re.compile(r"main|federated|realtime"),
}
_OMITTED = ";,()"


class Misaligned(Exception):
    """The printer's tokens do not match the source."""

    def __init__(self, offset: int, expected: str) -> None:
        super().__init__(offset, expected)
        self.offset = offset
        self.expected = expected


def attach(pieces: Pieces, source: Source, comments: tuple[Comment, ...]) -> None:
    """Set each token's ``gap``, and its text where the source's spelling is kept.

    Raises:
        Misaligned: The tokens do not match the source.
    """
    walk = _Walk(source, comments)
    delayed = Gap()
    before: Token | Layout = Layout.LINE
    for piece in pieces:
        before, previous = piece, before
        if isinstance(piece, Layout):
            continue
        gap = walk.gap_before(piece)
        if delayed.comments:
            gap = _joined(delayed, gap)
            delayed = Gap()
        moves_before = piece.mark == "," or (
            piece.mark == "{" and previous is Layout.SPACE
        )
        if moves_before and _ends_line(gap):
            # `a // why`, and `,` on the next line: the comma moves before the comment.
            delayed, gap = gap, Gap()
        piece.gap = gap


def _ends_line(gap: Gap) -> bool:
    return bool(gap.comments) and (
        gap.broken() or any(c.to_line_end for c in gap.comments)
    )


def _joined(first: Gap, second: Gap) -> Gap:
    if not second.comments:
        return Gap(first.comments, max(first.newlines, second.newlines))
    second.comments[0].newlines = max(first.newlines, second.comments[0].newlines)
    return Gap(first.comments + second.comments, second.newlines)


class _Walk:
    """A position in the source that only moves forward."""

    def __init__(self, source: Source, comments: tuple[Comment, ...]) -> None:
        self.source = source
        self.text = source.text
        self.comments = comments
        self.next_comment = 0
        self.at = 0

    def gap_before(self, token: Token) -> Gap:
        """Move past the token; return the gap before it."""
        found: list[NearbyComment] = []
        newlines = 0
        while True:
            newlines = max(newlines, self._blanks())
            if self._at_comment() and not self._spans(token):
                found.append(self._comment(newlines))
                newlines = 0
            elif self._matches(token):
                return Gap(found, newlines)
            elif self.text[self.at : self.at + 1] in tuple(_OMITTED):
                self.at += 1
            else:
                raise Misaligned(self.at, token.text)

    def _blanks(self) -> int:
        blanks = _BLANKS.match(self.text, self.at)
        assert blanks is not None
        self.at = blanks.end()
        return blanks[0].count("\n")

    def _at_comment(self) -> bool:
        n = self.next_comment
        return n < len(self.comments) and self.comments[n].span.start == self.at

    def _spans(self, token: Token) -> bool:
        """Return whether the span of a token begins here."""
        return token.span is not None and token.span.start == self.at

    def _behind_comment(self) -> bool:
        n = self.next_comment
        return n < len(self.comments) and self.comments[n].span.start < self.at

    def _comment(self, newlines: int) -> NearbyComment:
        comment = self.comments[self.next_comment]
        self.next_comment += 1
        column = self.source.line_and_column(self.at)[1] - 1
        self.at = comment.span.end
        return NearbyComment(comment.text.rstrip(), newlines, column)

    def _matches(self, token: Token) -> bool:
        """Move past the token if it is here; copy the source's spelling."""
        text, at = self.text, self.at
        if token.mark == END:
            return at == len(text)
        if token.span is not None and self._spans(token):
            self.at = token.span.end
            while self._behind_comment():
                self.next_comment += 1  # it is part of the token's text
            return True
        if token.spelling in _PATTERNS:
            found = _PATTERNS[token.spelling].match(text, at)
            if found is None:
                return False
            token.text = expected = found[0]
        elif token.spelling is Spelling.CODE:
            expected = f"{{={token.text}=}}"
        else:
            expected = token.text
        if not text.startswith(expected, at):
            return False
        self.at = at + len(expected)
        return True
