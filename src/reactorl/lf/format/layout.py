# SPDX-License-Identifier: Apache-2.0
"""Lays out tokens and comments as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.format.blocks import indented
from reactorl.lf.format.tokens import END, Layout, NearbyComment, Spelling, Token

if TYPE_CHECKING:
    from reactorl.lf.format.expressions import Pieces

LEVEL = 2
CONTINUATION = 4
WIDTH = 100

_NONE, _SPACE, _SOFT, _LINE, _BLANK = range(5)
_STRENGTH = {
    Layout.SPACE: _SPACE,
    Layout.SOFT: _SOFT,
    Layout.LINE: _LINE,
    Layout.BLANK: _BLANK,
}
_OPENERS = ("(", "[", "{", "<")
_CLOSERS = (")", "]", "}", ">", ",")


def lay_out(pieces: Pieces) -> str:
    """Return the text of pieces, each line with its end."""
    lines = _Lines()
    between: list[Layout] = []
    for piece in pieces:
        if isinstance(piece, Layout):
            between.append(piece)
        else:
            lines.step(between, piece)
            between = []
    return "".join(f"{line}\n" for line in lines.done)


class _Lines:
    """The finished lines and the current line.

    Attributes:
        done: Finished lines.
        head: The current line up to the last position where it may be broken.
        chunk: The rest; it moves to the next line if it does not fit.
        is_soft: Whether the line may be broken between ``head`` and ``chunk``.
        indent: The indentation of the current block or list.
        lists: For each open list, whether it has one item per line.
    """

    def __init__(self) -> None:
        self.done: list[str] = []
        self.head = ""
        self.chunk: list[str] = []
        self.is_soft = False
        self.indent = 0
        self.lists: list[bool] = []
        self.start = 0
        self.wrap = CONTINUATION
        self.last = ""

    def step(self, between: list[Layout], token: Token) -> None:
        """Print a token and the gap before it."""
        opening = not self.last
        closing = token.mark == END
        strength = _LINE if opening else _NONE
        deepest = self.indent
        for layout in between:
            if layout is Layout.INDENT:
                self.indent += LEVEL
                opening = True
            elif layout is Layout.DEDENT:
                self.indent -= LEVEL
                closing = True
            elif layout is Layout.OPEN:
                self.lists.append(token.gap.broken())
                if self.lists[-1]:
                    self.indent += LEVEL
                    opening, strength = True, _LINE
            elif layout is Layout.CLOSE:
                if self.lists.pop():
                    self.indent -= LEVEL
                    closing, strength = True, _LINE
            elif layout is Layout.SOFT and self.lists and self.lists[-1]:
                strength = max(strength, _LINE)
            else:
                strength = max(strength, _STRENGTH[layout])
            deepest = max(deepest, self.indent)
        if strength >= _LINE:
            self.between_lines(
                token,
                indent=deepest,
                opening=opening,
                closing=closing,
                forced=strength == _BLANK,
            )
        else:
            self.within_line(strength, token)
        self.put(token)
        self.last = token.mark

    # -- comments -------------------------------------------------------------------

    def between_lines(
        self, token: Token, *, indent: int, opening: bool, closing: bool, forced: bool
    ) -> None:
        """End the line; comments stay on their side of the line end."""
        gap = token.gap
        forced = forced and not (
            gap.newlines > 1 or any(c.newlines > 1 for c in gap.comments)
        )
        can_trail = bool(self.last)
        begins_line = False
        for comment in gap.comments:
            if comment.newlines == 0 and can_trail:
                self.trail(comment)
            else:
                is_blank = (comment.newlines > 1 or forced) and not opening
                self.end_line(indent, is_blank=is_blank)
                self.append("", comment)
                opening = forced = False
                begins_line = True
            can_trail = not comment.to_line_end
        if begins_line and can_trail and gap.newlines == 0 and not closing:
            self.chunk.append(" ")
        else:
            is_blank = (gap.newlines > 1 or forced) and not opening and not closing
            self.end_line(self.indent, is_blank=is_blank)

    def within_line(self, strength: int, token: Token) -> None:
        """Continue the line, unless a comment ends it."""
        gap = token.gap
        following = [c.newlines for c in gap.comments[1:]] + [gap.newlines]
        for comment, newlines in zip(gap.comments, following, strict=False):
            if comment.newlines:
                self.continue_line()
                self.append("", comment)
            elif comment.to_line_end or newlines:
                self.trail(comment)
            else:
                if strength == _NONE and self.last not in _OPENERS:
                    strength = _SPACE
                self.separate(strength)
                self.text(comment.text)
            strength = _NONE if token.mark in _CLOSERS else _SPACE
            if comment.to_line_end or newlines:
                self.continue_line()
                strength = _NONE
        self.separate(strength)

    def trail(self, comment: NearbyComment) -> None:
        """Print a comment after its token."""
        self.append("  " if comment.to_line_end else " ", comment)

    def append(self, blank: str, comment: NearbyComment) -> None:
        """Print a comment at the end of the line, of any length."""
        self.commit()
        self.is_soft = False
        if not self.head:
            self.head = " " * self.start
        else:
            self.head += blank
        self.text(_shifted(comment.text, len(self.head) - comment.column))
        self.commit()

    # -- text -----------------------------------------------------------------------

    def put(self, token: Token) -> None:
        """Print a token."""
        if token.spelling is not Spelling.CODE:
            self.text(token.text)
            return
        lines = indented(token.text, self.indent)
        if not self.lists:
            # Whether a signature is broken depends on its own length, not its body's.
            if len(lines) > 1:
                self.chunk.append(lines[0])
                lines[0] = ""
            self.commit()
        self.text("\n".join(lines))

    def text(self, text: str) -> None:
        """Print text, which may contain line ends."""
        first, *others = text.split("\n")
        self.chunk.append(first)
        if others:
            self.commit()
            self.done += [self.head, *others[:-1]]
            self.head = others[-1]

    def separate(self, strength: int) -> None:
        """Print a space, or allow a line break."""
        if strength == _SOFT:
            self.commit()
            self.is_soft = True
        elif strength == _SPACE:
            self.chunk.append(" ")

    def commit(self) -> None:
        """Print the chunk on this line or on the next one."""
        piece = "".join(self.chunk)
        if not piece:
            return
        if not self.head:
            self.head = " " * self.start + piece
        elif not self.is_soft:
            self.head += piece
        elif len(self.head) + 1 + len(piece) <= WIDTH:
            self.head += " " + piece
        else:
            self.done.append(self.head)
            self.head = " " * self.wrap + piece
        self.chunk = []
        self.is_soft = False

    def continue_line(self) -> None:
        """Begin a continuation line."""
        self.end_line(self.indent + CONTINUATION)
        self.wrap = self.start

    def end_line(self, indent: int, *, is_blank: bool = False) -> None:
        """Finish the current line, if it is not empty, and begin another."""
        self.commit()
        if self.head:
            self.done.append(self.head)
        if is_blank:
            self.done.append("")
        self.head = ""
        self.is_soft = False
        self.start = indent
        self.wrap = indent + CONTINUATION


def _shifted(comment: str, columns: int) -> str:
    """Return a comment whose later lines are shifted like the first one."""
    first, *others = (line.rstrip() for line in comment.split("\n"))
    if columns < 0:
        blank = min((len(o) - len(o.lstrip(" ")) for o in others if o), default=0)
        others = [o[min(blank, -columns) :] for o in others]
    else:
        others = [" " * columns + o if o else o for o in others]
    return "\n".join([first, *others])
