# SPDX-License-Identifier: Apache-2.0
"""Error recovery: how parsing continues after a token that does not fit.

In this order: reinterpret the token; insert a missing one; discard the member, property
or part of the file and continue after it. Every step consumes a token or shortens the
stack, so the time is linear in the length of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reactorl.lf.parse import syntax
from reactorl.lf.parse.keywords import (
    CLASS_STARTS,
    END,
    FILE_WORDS,
    KEYWORDS,
    MEMBER_WORDS,
)
from reactorl.lf.parse.lexer import Token
from reactorl.lf.source import Span

if TYPE_CHECKING:
    from reactorl.lf.parse.lalr import LalrParser

_INSERTED: Final = (")", "]", "new", "->")
LEVELS: Final = ("entry", "member", "item")
"""The rules that recovery discards as a whole."""
_HANDLERS: Final = frozenset(["tardy", "STAA", "STP", "deadline"])
_OPENING: Final = frozenset(("(", "[", "LEFT"))


def missing_token(parser: LalrParser, token: Token, following: Token) -> str | None:
    """Return the kind of token that, inserted before ``token``, makes it fit."""
    if not parser.history or token.kind == END:
        return None
    # Plain braces may be a code block with the wrong delimiters.
    kind = "CODE" if token.kind == "{" and parser.fits(")", "CODE") else token.kind
    # Two names are a list; a name and a value are an assignment.
    last = (",", "=") if kind == "NAME" else ("=", ",")
    fitting = [word for word in _INSERTED + last if parser.fits(word, kind)]
    for word in fitting:
        if parser.fits(word, kind, following.kind):
            return word
    return fitting[0] if fitting else None


def left_open(parser: LalrParser) -> Token | None:
    """Return the innermost parenthesis or bracket that is still open."""
    for value in reversed(parser.values):
        if isinstance(value, Token):
            if value.kind in _OPENING:
                return value
            if value.kind == "{":
                return None
    return None


def drop_attributes(parser: LalrParser) -> None:
    """Remove attributes from the stack that are not followed by a member."""
    while parser.values and not parser.fits("}"):
        value = parser.values[-1]
        nodes = value if isinstance(value, list | tuple) else (value,)
        if nodes and not isinstance(nodes[0], syntax.Attribute):
            return
        parser.drop(1)


def may_be_name(parser: LalrParser, token: Token) -> bool:
    """Return whether a keyword is where a name is allowed."""
    return token.kind in KEYWORDS and not token.first and parser.fits("NAME")


def may_follow_name(parser: LalrParser, token: Token) -> bool:
    """Return whether a token can follow a keyword that is used as a name."""
    if not token.first and token.kind in ("NAME", "NEW_NAME"):
        return False
    return parser.fits("NAME", token.kind)


def head(discarded: list[Any]) -> tuple[str, list[Any]] | None:
    """Return the head of a discarded reactor or mode, as far as it was parsed."""
    kinds = [part.kind if isinstance(part, Token) else "" for part in discarded]
    for kind in ("reactor", "mode"):
        if kind not in kinds:
            continue
        at = kinds.index(kind)
        before = discarded[:at]
        attributes = before[0] if before and isinstance(before[0], tuple) else ()
        named = at + 1 < len(kinds) and kinds[at + 1] == "NAME"
        name = discarded[at + 1] if named else None
        if kind == "mode":
            initial = next((p for p in before if isinstance(p, Token)), None)
            return "mode_head", [attributes, initial, name]
        modifiers = next((p for p in before if isinstance(p, list)), [])
        return "reactor_head", [attributes, modifiers, name, (), (), None, ()]
    return None


class Skipper:
    """Decides at which token parsing continues after an error."""

    def __init__(self, name: str, discarded: list[Any]) -> None:
        self._name = name
        marks = [part.kind for part in discarded if isinstance(part, Token)]
        self._round = sum(mark in _OPENING for mark in marks)
        self._curly = 0 if name == "item" else marks.count("{")
        self._over = False

    def keeps(self, token: Token) -> bool:
        """Return whether parsing continues at this token; otherwise it is skipped."""
        kind = token.kind
        if kind == END or self._over:
            if kind not in _HANDLERS or self._round or self._curly:
                return True
            self._over = False
        if self._name == "entry":
            stops = self._keeps_in_entry(kind)
        elif self._name == "member":
            stops = self._keeps_in_member(token)
        else:
            stops = not self._curly and (
                kind in FILE_WORDS - {"import"}
                or (kind in ("@", "import") and token.first)
            )
        if not stops:
            self.skip(kind)
        return stops

    def _keeps_in_entry(self, kind: str) -> bool:
        if kind in CLASS_STARTS:
            return True
        return not self._curly and (kind == "}" or (kind == "," and not self._round))

    def _keeps_in_member(self, token: Token) -> bool:
        kind = token.kind
        if self._curly:
            return token.first and kind in CLASS_STARTS
        if kind == "}" or kind in MEMBER_WORDS or kind in CLASS_STARTS:
            return True
        if not token.first:
            return False
        if kind in ("@", "LEFT"):
            return True
        starts = ("NAME", "NEW_NAME", "interleaved", "(", "reset")
        return not self._round and kind in starts

    def skip(self, kind: str) -> None:
        """Count the brackets of a skipped token."""
        if kind in _OPENING:
            self._round += 1
        elif kind in (")", "]"):
            self._round = max(0, self._round - 1)
        elif kind == "{":
            self._curly += 1
        elif kind == "}":
            self._curly = max(0, self._curly - 1)
            if not self._curly and self._name == "member":
                self._over = True
                self._round = 0
        elif kind in (";", "CODE") and not self._curly and not self._round:
            self._over = self._name == "member"


def inserted(kind: str, at: int) -> Token:
    """Return a token that is not in the text."""
    return Token(kind, kind, at, at)


def span_of(token: Token, before: Token | None) -> Span:
    """Return the span to report: the token, or the last one of an earlier line."""
    if before is not None and (token.first or token.kind == END):
        return before.span
    return Span(token.start, max(token.end, token.start + 1))
