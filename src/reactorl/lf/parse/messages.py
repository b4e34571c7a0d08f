# SPDX-License-Identifier: Apache-2.0
"""Wording of lexical errors and syntax errors.

A lexical error is a pair: what is wrong, and the remedy. For a token that does not fit,
``recognise`` guesses what was meant; otherwise ``in_words`` lists what would fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reactorl._util.suggestions import closest, did_you_mean
from reactorl.lf.parse.keywords import END, FILE_WORDS, MEMBER_WORDS
from reactorl.lf.parse.time_units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl.lf.parse.lexer import Token
    from reactorl.lf.source import Span

# -- lexical errors ------------------------------------------------------------------

LexicalError = tuple[str, str]

LONGEST_NUMBER: Final = 300
"""Maximum number of digits: Python converts longer numbers in quadratic time."""

_LOOKALIKES: Final = {
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{MINUS SIGN}": "-",
    "\N{NO-BREAK SPACE}": "a space",
    "`": '"',
}


def nearest_unit(word: str) -> str:
    """Return the unit that a word was probably meant to be, or an empty string."""
    if word == "m":
        return "min"
    if word in ("\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s"):
        return "us"
    lower = word.lower()
    if lower in TIME_UNITS or len(word) > 12:
        return lower if lower in TIME_UNITS else ""
    return closest(lower, TIME_UNITS, cutoff=0.5)


def time(number: str, unit: str, *, is_whole: bool) -> LexicalError | None:
    """Check a number with a unit."""
    if unit not in TIME_UNITS:
        near = nearest_unit(unit)
        if near:
            advice = f"Did you mean '{near}'?"
        else:
            advice = "Time units are ns, us, ms, s, min, h, d and wk."
        return f"unknown time unit '{shorten(unit)}'", advice
    if not is_whole:
        return (
            f"the number of a time must be an integer, got {shorten(number)}",
            "Use a smaller unit, e.g. 1500 ms for 1.5 s.",
        )
    if number.startswith("-"):
        return f"a time must not be negative, got {shorten(number)} {unit}", ""
    return _too_long(number)


def number(text: str) -> LexicalError | None:
    """Check a number."""
    return _too_long(text)


def _too_long(number: str) -> LexicalError | None:
    if len(number) <= LONGEST_NUMBER:
        return None
    what = f"a number must have at most {LONGEST_NUMBER} digits, got {len(number)}"
    return what, ""


def char(text: str) -> LexicalError:
    """Return the error for single quotes without exactly one character."""
    if len(text) < 2 or not text.endswith("'"):
        return (
            "this quote is not closed",
            'Write strings in double quotes: "text".',
        )
    return (
        "single quotes must contain exactly one character",
        f'Use double quotes: "{shorten(text[1:-1])}".',
    )


def open_string() -> LexicalError:
    """Return the error for a string without an end."""
    return (
        "this string is not closed",
        'A string must end on its line; use """...""" for several lines.',
    )


def open_comment(mark: str) -> LexicalError:
    """Return the error for a comment without an end."""
    close = "*/" if mark == "/*" else mark
    return "this comment is not closed", f"End it with {close}"


def open_code() -> LexicalError:
    """Return the error for a code block without an end."""
    return "this code block is not closed", "End it with =}"


def stray_code_end() -> LexicalError:
    """Return the error for ``=}`` outside of a code block."""
    return "'=}' without a matching '{='", "Write code blocks as {= ... =}"


def arrow(text: str) -> LexicalError:
    """Return the error for an arrow of another language."""
    return f"'{shorten(text)}' is not an LF arrow", "Write '->'."


def too_deep(limit: int) -> LexicalError:
    """Return the error for brackets that are nested too deeply."""
    return f"brackets must be nested at most {limit} deep", ""


def foreign_letters(word: str) -> LexicalError:
    """Return the error for a name with characters that are not allowed."""
    return (
        f"'{shorten(word)}' is not a valid name",
        "Names consist of the letters a to z and A to Z, digits and _.",
    )


def unknown(text: str) -> LexicalError:
    """Return the error for characters that no token begins with."""
    first = text[0]
    meant = _LOOKALIKES.get(first)
    advice = f"Did you mean {meant}?" if meant else ""
    if first == "-":
        advice = "A minus sign must directly precede its number."
    if first.isprintable() and not first.isspace():
        return f"unexpected '{shorten(text)}'", advice
    return f"unexpected character U+{ord(first):04X}", advice


def shorten(text: str) -> str:
    """Return a text as messages quote it: short and printable."""
    if len(text) > 30:
        text = text[:27] + "..."
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


# -- what was expected ----------------------------------------------------------------

_WORDS: Final = {
    "NAME": "a name",
    "NEW_NAME": "a name",
    "STRING": "a string",
    "CHAR": "a character",
    "INT": "a number",
    "FLOAT": "a number",
    "BOOL": "true or false",
    "TIME": "a time",
    "CODE": "'{='",
    "HOST": "a host",
    "PACKAGE": "a package like <name/File.lf>",
    "WORD": "a property",
    "LEFT": "'('",
    END: "the end of the file",
}
_VALUES: Final = frozenset(["STRING", "INT", "FLOAT", "CHAR", "BOOL", "TIME"])
_MEMBERS: Final = MEMBER_WORDS | frozenset(
    ["reset", "@", "(", "LEFT", "interleaved", "NAME", "NEW_NAME"]
)
# Tokens that may often follow, but are rarely what was intended.
_UNLIKELY: Final = frozenset(f"; :: * < @ as at {END}".split())
_MOST: Final = 6


def found(token: Token) -> str:
    """Return a token as messages quote it."""
    if token.kind == "CODE":
        return "a code block"
    if token.kind in ("STRING", "TIME", "INT", "FLOAT", "BOOL", "CHAR"):
        return shorten(token.text)
    if token.kind == END:
        return "the end of the file"
    return f"'{shorten(token.text)}'"


def in_words(kinds: Iterable[str], before: Token | None) -> str:
    """Return the kinds of tokens that may follow ``before`` as a list in words."""
    left = set(kinds)
    last: list[str] = []
    if {"CODE", "reaction"} <= left:
        # The grammar accepts a reaction without a body, the Python target does not.
        begins = before is not None and before.kind in ("reaction", "mutation")
        left &= {"CODE", "->", "(", "NAME"} if begins else {"CODE", "->"}
    if "=" in left:
        left -= {"(", "{"}  # old forms
    if {"state", "timer", "reaction"} <= left:
        left -= _MEMBERS
        last.append("a member of the reactor")
    if {"reactor", "main"} <= left:
        is_any = "target" in left
        left -= FILE_WORDS
        last.append("'import', 'preamble' or a reactor" if is_any else "'reactor'")
    values = []
    if left >= _VALUES:
        left -= _VALUES | {"NAME", "CODE", "[", "{", "WORD"}
        values.append("a value")
    for kind in [*sorted(_UNLIKELY & left), ":"]:
        if kind in left and len(left) + len(values) + len(last) > 1:
            left.discard(kind)
    marks = sorted({_WORDS.get(kind, f"'{kind}'") for kind in left}, key=_order)
    words = values + marks + last
    if len(words) > _MOST:
        words = [*words[: _MOST - 1], "something else"]
    if len(words) < 2:
        return "".join(words) or "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _order(word: str) -> tuple[int, str]:
    """Names first, then punctuation, then keywords."""
    if not word.startswith("'"):
        return 0, word
    return (2 if word[1].isalpha() else 1), word


# -- what was probably meant ----------------------------------------------------------


class Hint(NamedTuple):
    """A guess at the author's intention. ``what`` is empty if there is only advice."""

    what: str
    advice: str
    span: Span


def recognise(token: Token, before: list[Token], expected: set[str]) -> Hint | None:
    """Return a message for a token that does not fit, if a common mistake explains it.

    Args:
        token: The token.
        before: The last few tokens before it.
        expected: The kinds of tokens that would have fitted.
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
    "def": "Write a method as: method name(a, b) {= ... =}",
    "class": "Write a reactor as: reactor Name { ... }",
    "async": "Write a method as: method name(a, b) {= ... =}",
    "from": "Write Python imports in a preamble: preamble {= from a import b =}",
}


def _python(
    token: Token, before: list[Token], *, in_file: bool, in_reactor: bool
) -> Hint | None:
    """Recognise Python statements."""
    last = before[-1] if before else None
    at = token
    if last is not None and last.kind == "NAME" and last.text in _PYTHON:
        at = last
    if at.text in _PYTHON and (in_file or in_reactor or at is last):
        return Hint(f"'{at.text}' is Python, not LF", _PYTHON[at.text], at.span)
    head = next((t for t in before if t.kind == "import"), None)
    if head is not None and last is not None and last.kind in ("NAME", "import"):
        names = [t for t in before if t.start > head.start]
        if all(t.kind in ("NAME", "as") for t in names) and token.kind != "STRING":
            advice = (
                'Import reactors from files: import R from "file.lf". '
                "Write Python imports in a preamble: preamble {= import a =}"
            )
            return Hint("", advice, token.span)
    return None


def _stray(
    token: Token, before: list[Token], *, in_file: bool, in_reactor: bool
) -> Hint | None:
    """Recognise members and parts of a file in the wrong place."""
    if in_file and token.kind == "}":
        return Hint("'}' without a matching '{'", "", token.span)
    if in_file and (token.kind in MEMBER_WORDS or token.kind == "reset"):
        advice = "Move it into a reactor."
        return Hint(f"'{token.text}' outside of a reactor", advice, token.span)
    if in_reactor and token.kind in ("import", "target"):
        advice = "Move it to the top of the file."
        if token.kind == "import":
            advice += " Write Python imports in a preamble: preamble {= import a =}"
        return Hint(f"'{token.text}' inside of a reactor", advice, token.span)
    return None


def _unknown_word(
    token: Token, before: list[Token], *, in_file: bool, in_reactor: bool
) -> Hint | None:
    """Recognise misspelt keywords."""
    if in_file and token.kind == "NAME":
        advice = did_you_mean(token.text, FILE_WORDS)
        if advice:
            return Hint(f"unknown keyword '{token.text}'", advice, token.span)
    last = before[-1] if before else None
    begins_member = last is not None and last.kind == "NAME" and last.first
    if last is not None and begins_member and token.kind not in (".", ",", "="):
        advice = did_you_mean(last.text, MEMBER_WORDS | {"reset"})
        if advice:
            return Hint(f"unknown keyword '{last.text}'", advice, last.span)
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
        what = f"expected one name, found '{type_.text} {name.text}'"
        advice = f"The Python target has no types. Write: {word.text} {name.text}"
        return Hint(what, advice, type_.span.to(name.span))
    return None


def _advice(token: Token, last: Token | None, expected: set[str]) -> str:
    """Return advice beside the usual message."""
    if token.kind in ("tardy", "STAA", "STP"):
        return f"Write '{token.text}' after the body and before 'deadline'."
    if token.kind == ":" and "CODE" in expected:
        return "Write the body between {= and =}"
    if "CODE" in expected and not {"->", "INT"} & expected and token.kind != END:
        return "Write the body as {= ... =}"
    if token.kind == "=" and "->" in expected:
        return "Connect ports with '->'; write an instance as: name = new R()"
    if "new" in expected:
        return f"Write an instance as: name = new {token.text}()"
    if expected == {"->", "~>"} or ("->" in expected and "~>" in expected):
        return "Write a connection as: a.out -> b.in"
    if "+" in expected and token.text.startswith("-"):
        return "A width must be a number, a parameter, or a sum of these."
    return ""
