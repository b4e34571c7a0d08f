# SPDX-License-Identifier: Apache-2.0
"""Labels of diagrams: times, types and values as text."""

from __future__ import annotations

import re
from typing import Final

from reactorl._program.text import value_text

LONGEST: Final = 120
"""Longest text of a parameter's value, in characters."""

_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
_BLANKS = re.compile(r"\s+")
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def time_text(nanoseconds: int) -> str:
    """Return a time in the largest unit that it is a whole number of."""
    for unit, size in (
        ("h", 3600 * 10**9),
        ("min", 60 * 10**9),
        ("s", 10**9),
        ("ms", 10**6),
        ("us", 10**3),
    ):
        if nanoseconds and nanoseconds % size == 0:
            return f"{nanoseconds // size} {unit}"
    return f"{nanoseconds} ns" if nanoseconds else "0"


def type_text(declaration: object) -> str:
    """Return what ``Input[float]()`` and its like carry; empty if not declared."""
    said = getattr(declaration, "__orig_class__", None)
    arguments: tuple[object, ...] = getattr(said, "__args__", ())
    if len(arguments) != 1:
        return ""
    found = arguments[0]
    if isinstance(found, type) and not hasattr(found, "__args__"):
        return found.__qualname__.rpartition("<locals>.")[2]
    name = getattr(found, "__forward_arg__", None)
    return _MODULES.sub("", name if isinstance(name, str) else str(found))


def short_value(value: object) -> str:
    """Return a parameter's value in one line that is not too long."""
    try:
        text = value_text(value)
    except Exception:  # a __repr__ of the user's may fail; the type is shown instead
        text = f"<{type(value).__qualname__}>"
    text = one_line(_ADDRESS.sub("", text))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def first_line(doc: str | None) -> str:
    """Return the first line of a docstring."""
    return (doc or "").strip().partition("\n")[0]


def drawable(text: str) -> str:
    """Return text without control characters and lone surrogates.

    A parameter may be the name of a file that is not UTF-8, for example.
    """
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """Return drawable text in one line."""
    return drawable(_BLANKS.sub(" ", text))
