# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a single word of a ``.lf`` text, in plain words.

Each function returns the fact and the way out, as a diagnostic has them.
"""

from __future__ import annotations

from typing import Final

from reactorl._util.suggestions import closest
from reactorl.lf.times import UNITS

Slip = tuple[str, str]

LONGEST_NUMBER: Final = 300
"""Digits. Longer ones mean nothing, and Python takes its time to read them."""

_LOOKALIKES: Final = {
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{MINUS SIGN}": "-",
    "\N{NO-BREAK SPACE}": "a blank",
    "`": '"',
}


def nearest_unit(word: str) -> str:
    """Return the unit that a word was probably meant to be, or an empty string."""
    if word == "m":
        return "min"
    if word in ("\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s"):
        return "us"
    lower = word.lower()
    if lower in UNITS or len(word) > 12:
        return lower if lower in UNITS else ""
    return closest(lower, UNITS, cutoff=0.5)


def time(number: str, unit: str, *, is_whole: bool) -> Slip | None:
    """Judge a number with a unit."""
    if unit not in UNITS:
        near = nearest_unit(unit)
        if near:
            advice = f"Did you mean '{near}'?"
        else:
            advice = "Units are: ns, us, ms, s, min, h, d, wk."
        return f"'{shorten(unit)}' is not a unit of time", advice
    if not is_whole:
        return (
            f"a time needs a whole number, not {shorten(number)}",
            "Use a smaller unit, e.g. 1500 ms for 1.5 s.",
        )
    if number.startswith("-"):
        return "a time cannot be negative", ""
    return _too_long(number)


def number(text: str) -> Slip | None:
    """Judge a number."""
    return _too_long(text)


def _too_long(number: str) -> Slip | None:
    if len(number) <= LONGEST_NUMBER:
        return None
    return f"a number of {len(number)} digits is too long", ""


def char(text: str) -> Slip:
    """Tell that single quotes do not hold one character."""
    if len(text) < 2 or not text.endswith("'"):
        return (
            "this quote has no partner on its line",
            'Strings are written "like this".',
        )
    return (
        "single quotes hold exactly one character",
        f'Use double quotes: "{shorten(text[1:-1])}".',
    )


def open_string() -> Slip:
    """Tell that a string does not end."""
    return (
        "this string is not closed",
        'Strings end on their line; those between """ and """ may be longer.',
    )


def open_comment(mark: str) -> Slip:
    """Tell that a comment does not end."""
    close = "*/" if mark == "/*" else mark
    return "this comment is not closed", f"End it with {close}"


def open_code() -> Slip:
    """Tell that a code block does not end."""
    return "this code block is not closed", "End it with =}"


def stray_code_end() -> Slip:
    """Tell that a code block ends that did not begin."""
    return "'=}' closes nothing", "A code block is written {= ... =}"


def arrow(text: str) -> Slip:
    """Tell that an arrow is drawn otherwise."""
    return f"'{shorten(text)}' is not an arrow of LF", "Write '->'."


def too_deep(limit: int) -> Slip:
    """Tell that brackets are nested too deep."""
    return f"brackets are nested more than {limit} deep", ""


def foreign_letters(word: str) -> Slip:
    """Tell that a name has letters that LF does not know."""
    return (
        f"'{shorten(word)}' is not a name",
        "Names consist of letters from a to z and A to Z, digits and _.",
    )


def unknown(text: str) -> Slip:
    """Tell that characters mean nothing."""
    first = text[0]
    meant = _LOOKALIKES.get(first)
    advice = f"Did you mean {meant}?" if meant else ""
    if first == "-":
        advice = "A minus sign stands directly before its number."
    if first.isprintable() and not first.isspace():
        return f"'{shorten(text)}' means nothing here", advice
    return f"the character U+{ord(first):04X} means nothing here", advice


def shorten(text: str) -> str:
    """Return a text as messages quote it: a line's worth, printable."""
    if len(text) > 30:
        text = text[:27] + "..."
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
