# SPDX-License-Identifier: Apache-2.0
"""What was found and what would have fitted, in LF's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.lf.lexer import END
from reactorl.lf.slips import shorten
from reactorl.lf.words import FILE_WORDS, MEMBER_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl.lf.lexer import Token

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
# What could always follow and is seldom what the author had in mind.
_UNLIKELY: Final = frozenset(f"; :: * < @ as at {END}".split())
_MOST: Final = 6


def found(token: Token) -> str:
    """Return a word as a message quotes it."""
    if token.kind == "CODE":
        return "a code block"
    if token.kind in ("STRING", "TIME", "INT", "FLOAT", "BOOL", "CHAR"):
        return shorten(token.text)
    if token.kind == END:
        return "the end of the file"
    return f"'{shorten(token.text)}'"


def in_words(kinds: Iterable[str], before: Token | None) -> str:
    """Return kinds of words that may follow another as a message lists them."""
    left = set(kinds)
    last: list[str] = []
    if {"CODE", "reaction"} <= left:
        # The grammar does without a body, Python does not.
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
    """Names first, then marks, then words."""
    if not word.startswith("'"):
        return 0, word
    return (2 if word[1].isalpha() else 1), word
