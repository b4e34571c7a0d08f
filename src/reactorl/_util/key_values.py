# SPDX-License-Identifier: Apache-2.0
"""Values as ``key=value`` texts, on a command line and in a configuration file.

A value is a Python literal; a plain word such as ``8x8`` or ``rgb_array`` is a string.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EXAMPLE: Final = "For example: gravity=9.8 map_name=8x8 size=(3,4) is_slippery=False"
_WORD: Final = re.compile(r"[\w.][\w./:-]*")
_OTHER_LANGUAGES: Final = {"true": "True", "false": "False", "null": "None"}


def parse_key_values(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values by key; of a key that is given twice, the last one.

    Raises:
        ValueError: A text is not ``key=value``, or its value is not a literal.
    """
    return dict(_parse(text) for text in texts)


def _parse(text: str) -> tuple[str, Any]:
    key, equals, written = text.partition("=")
    if not equals or not key.isidentifier():
        msg = f"must be key=value, got '{text}'"
        raise ValueError(msg)
    python = _OTHER_LANGUAGES.get(written)
    if python is not None:
        msg = f"must be a Python literal such as {python}, got '{text}'"
        raise ValueError(msg)
    try:
        return key, ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if _WORD.fullmatch(written):
            return key, written
        msg = f"must have a Python literal as its value, got '{text}'"
        raise ValueError(msg) from None


def format_key_values(values: Mapping[str, Any]) -> list[str] | None:
    """Return ``key=value`` texts that give the same values; None if there are none."""
    texts = [f"{key}={value!r}" for key, value in values.items()]
    try:
        same = parse_key_values(texts) == dict(values)
    except ValueError:
        return None
    return texts if same else None
