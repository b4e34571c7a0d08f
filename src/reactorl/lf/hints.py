# SPDX-License-Identifier: Apache-2.0
"""Slips that are recognised: words that do not fit, but show what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reactorl._util.suggestions import did_you_mean
from reactorl.lf.lexer import END
from reactorl.lf.words import FILE_WORDS, MEMBER_WORDS

if TYPE_CHECKING:
    from reactorl.lf.lexer import Token
    from reactorl.lf.source import Span


class Hint(NamedTuple):
    """What to tell about a slip. Without ``what`` only the advice is special."""

    what: str
    advice: str
    span: Span


def recognise(token: Token, before: list[Token], expected: set[str]) -> Hint | None:
    """Return what is probably meant by a word that does not fit, or None.

    Args:
        token: The word.
        before: The last few words before it.
        expected: The kinds of words that would have fitted.
    """
    last = before[-1] if before else None
    in_file = {"target", "reactor"} <= expected
    in_reactor = {"state", "reaction", "}"} <= expected
    for look in (_python, _stray, _unknown_word, _type_first):
        hint = look(token, before, in_file=in_file, in_reactor=in_reactor)
        if hint is not None:
            return hint
    advice = _advice(token, last, expected)
    return Hint("", advice, token.span) if advice else None


_PYTHON = {
    "def": "A method is written: method name(a, b) {= ... =}",
    "class": "A reactor is written: reactor Name { ... }",
    "async": "A method is written: method name(a, b) {= ... =}",
    "from": "Python's imports stand in a preamble: preamble {= from a import b =}",
}


def _python(
    token: Token, before: list[Token], *, in_file: bool, in_reactor: bool
) -> Hint | None:
    """Recognise statements of Python."""
    last = before[-1] if before else None
    at = token
    if last is not None and last.kind == "NAME" and last.text in _PYTHON:
        at = last
    if at.text in _PYTHON and (in_file or in_reactor or at is last):
        return Hint(f"'{at.text}' belongs to Python", _PYTHON[at.text], at.span)
    head = next((t for t in before if t.kind == "import"), None)
    if head is not None and last is not None and last.kind in ("NAME", "import"):
        names = [t for t in before if t.start > head.start]
        if all(t.kind in ("NAME", "as") for t in names) and token.kind != "STRING":
            advice = (
                'Reactors are imported from files: import R from "file.lf". '
                "Python's imports stand in a preamble: preamble {= import a =}"
            )
            return Hint("", advice, token.span)
    return None


def _stray(
    token: Token, before: list[Token], *, in_file: bool, in_reactor: bool
) -> Hint | None:
    """Recognise what stands in the wrong place."""
    if in_file and token.kind == "}":
        return Hint("'}' closes nothing", "", token.span)
    if in_file and (token.kind in MEMBER_WORDS or token.kind == "reset"):
        advice = "Put it between the braces of a reactor."
        return Hint(f"'{token.text}' stands outside of a reactor", advice, token.span)
    if in_reactor and token.kind in ("import", "target"):
        advice = "It belongs to the top of the file."
        if token.kind == "import":
            advice += " Python's imports stand in a preamble: preamble {= import a =}"
        return Hint(f"'{token.text}' stands inside of a reactor", advice, token.span)
    return None


def _unknown_word(
    token: Token, before: list[Token], *, in_file: bool, in_reactor: bool
) -> Hint | None:
    """Recognise words of LF with a typing error."""
    if in_file and token.kind == "NAME":
        advice = did_you_mean(token.text, FILE_WORDS)
        if advice:
            return Hint(f"unknown word '{token.text}'", advice, token.span)
    last = before[-1] if before else None
    begins_member = last is not None and last.kind == "NAME" and last.first
    if last is not None and begins_member and token.kind not in (".", ",", "="):
        advice = did_you_mean(last.text, MEMBER_WORDS | {"reset"})
        if advice:
            return Hint(f"unknown word '{last.text}'", advice, last.span)
    return None


def _type_first(
    token: Token, before: list[Token], *, in_file: bool, in_reactor: bool
) -> Hint | None:
    """Recognise ``input int x``."""
    if len(before) < 3:
        return None
    word, type_, name = before[-3:]
    if (
        word.kind in ("input", "output", "state", "timer", "action")
        and type_.kind == name.kind == "NAME"
        and not name.first
    ):
        what = f"a name too many: '{type_.text} {name.text}'"
        advice = f"There are no types here; write: {word.text} {name.text}"
        return Hint(what, advice, type_.span.to(name.span))
    return None


def _advice(token: Token, last: Token | None, expected: set[str]) -> str:
    """Return advice for words that need no other message."""
    if token.kind in ("tardy", "STAA", "STP"):
        return f"'{token.text}' stands after the body, before 'deadline'."
    if token.kind == ":" and "CODE" in expected:
        return "A body stands between {= and =}"
    if "CODE" in expected and not {"->", "INT"} & expected and token.kind != END:
        return "A body is written {= ... =}"
    if token.kind == "=" and "->" in expected:
        return "Ports are connected with '->'; an instance is written: name = new R()"
    if "new" in expected:
        return f"An instance is written: name = new {token.text}()"
    if expected == {"->", "~>"} or ("->" in expected and "~>" in expected):
        return "A connection is written: a.out -> b.in"
    if "+" in expected and token.text.startswith("-"):
        return "A width is a number, a parameter, or a sum of these."
    return ""
