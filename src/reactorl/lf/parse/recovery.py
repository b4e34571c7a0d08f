# SPDX-License-Identifier: Apache-2.0
"""How to go on after a word that does not fit.

In this order: take the word for what it was meant to be; supply one that is missing;
give up the member, property or part of the file, and go on behind it. Every step
consumes a word or shortens the stack, so the time is proportional to the text.
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

_SUPPLIED: Final = (")", "]", "new", "->")
LEVELS: Final = ("entry", "member", "item")
"""What is given up if it cannot be understood."""
_HANDLERS: Final = frozenset(["tardy", "STAA", "STP", "deadline"])
_OPENING: Final = frozenset(("(", "[", "LEFT"))


def missing_word(machine: LalrParser, token: Token, following: Token) -> str | None:
    """Return the word after which ``token`` would fit, if one does that."""
    if not machine.history or token.kind == END:
        return None
    # Plain braces may be meant to hold code.
    kind = "CODE" if token.kind == "{" and machine.fits(")", "CODE") else token.kind
    # Two names are a list; a name and a value are an assignment.
    last = (",", "=") if kind == "NAME" else ("=", ",")
    fitting = [word for word in _SUPPLIED + last if machine.fits(word, kind)]
    for word in fitting:
        if machine.fits(word, kind, following.kind):
            return word
    return fitting[0] if fitting else None


def left_open(machine: LalrParser) -> Token | None:
    """Return the parenthesis or bracket that is still open."""
    for value in reversed(machine.values):
        if isinstance(value, Token):
            if value.kind in _OPENING:
                return value
            if value.kind == "{":
                return None
    return None


def drop_attributes(machine: LalrParser) -> None:
    """Take attributes from the stack that are not followed by a member."""
    while machine.values and not machine.fits("}"):
        value = machine.values[-1]
        nodes = value if isinstance(value, list | tuple) else (value,)
        if nodes and not isinstance(nodes[0], syntax.Attribute):
            return
        machine.drop(1)


def may_be_name(machine: LalrParser, token: Token) -> bool:
    """Tell whether a reserved word stands where a name can be meant."""
    return token.kind in KEYWORDS and not token.first and machine.fits("NAME")


def may_follow_name(machine: LalrParser, token: Token) -> bool:
    """Tell whether a word can follow a name that is a reserved word."""
    if not token.first and token.kind in ("NAME", "NEW_NAME"):
        return False
    return machine.fits("NAME", token.kind)


def head(given_up: list[Any]) -> tuple[str, list[Any]] | None:
    """Return what remains of the head of a reactor or mode that was given up."""
    kinds = [part.kind if isinstance(part, Token) else "" for part in given_up]
    for kind in ("reactor", "mode"):
        if kind not in kinds:
            continue
        at = kinds.index(kind)
        before = given_up[:at]
        attributes = before[0] if before and isinstance(before[0], tuple) else ()
        named = at + 1 < len(kinds) and kinds[at + 1] == "NAME"
        name = given_up[at + 1] if named else None
        if kind == "mode":
            initial = next((p for p in before if isinstance(p, Token)), None)
            return "mode_head", [attributes, initial, name]
        modifiers = next((p for p in before if isinstance(p, list)), [])
        return "reactor_head", [attributes, modifiers, name, (), (), None, ()]
    return None


class Skipper:
    """Decides where to go on: fed with words, it tells which one is to be kept."""

    def __init__(self, name: str, given_up: list[Any]) -> None:
        self._name = name
        marks = [part.kind for part in given_up if isinstance(part, Token)]
        self._round = sum(mark in _OPENING for mark in marks)
        self._curly = 0 if name == "item" else marks.count("{")
        self._over = False

    def keeps(self, token: Token) -> bool:
        """Tell whether to go on with this word; otherwise skip it."""
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
        """Note a word that is not kept."""
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


def supplied(kind: str, at: int) -> Token:
    """Return a word that is not in the text."""
    return Token(kind, kind, at, at)


def span_of(token: Token, before: Token | None) -> Span:
    """Return the place to show: the word, or the one before it on an earlier line."""
    if before is not None and (token.first or token.kind == END):
        return before.span
    return Span(token.start, max(token.end, token.start + 1))
