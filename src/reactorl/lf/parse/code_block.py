# SPDX-License-Identifier: Apache-2.0
"""Finds the end of a code block: the first ``=}`` that is not in a Python string.

``f"{x=}"`` contains the closing delimiter, so the block is scanned by Python's rules
for strings and comments, with three additions:

- A quote without a matching one does not start a string. ``'`` and ``"`` strings end on
  their line, so a lone quote affects at most one line.
- In a comment ``=}`` ends the block if only LF keywords follow on the line and no ``{``
  of the same comment matches it. So ``{= x() # why =}`` is a block and
  ``# print(f"{x=}")`` is a comment.
- ``{=`` is not valid Python outside of strings and comments. If one occurs, the block
  was not closed, and it ends before the preceding lines of LF.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reactorl.lf.parse.keywords import CLASS_WORDS, KEYWORDS, MEMBER_WORDS


class Block(NamedTuple):
    """A code block: the end of its text, and the end including ``=}``.

    ``closed`` is false if it has no ``=}``; then both ends are equal.
    """

    text_end: int
    end: int
    closed: bool


_FORMATTED: Final = frozenset(["f", "fr", "rf", "t", "tr", "rt"])
_STOP: Final = re.compile(
    r"""(?:(?<!\w)([A-Za-z]{1,2}))?(\"\"\"|\'\'\'|"|\')|\#[^\n]*|=\}|\{="""
)
_BRACES: Final = re.compile(_STOP.pattern + r"|[{}]")
# The rest of a string after its opening quotes, including the closing ones.
_REST: Final = {
    '"': re.compile(r'(?:[^"\\\n]++|\\.)*+"', re.DOTALL),
    "'": re.compile(r"(?:[^'\\\n]++|\\.)*+'", re.DOTALL),
    '"""': re.compile(r'(?:[^"\\]++|\\.|"(?!""))*+"""', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]++|\\.|'(?!''))*+'''", re.DOTALL),
}
_FIELD_STOP: Final = re.compile(
    r"""(?:(?<!\w)([A-Za-z]{1,2}))?(\"\"\"|\'\'\'|"|\')|\#[^\n]*|[][(){}:]"""
)
_LITERAL_STOP: Final = {
    "'": re.compile(r"\\[^{}]|\{\{?|\}\}?|\n|'", re.DOTALL),
    '"': re.compile(r'\\[^{}]|\{\{?|\}\}?|\n|"', re.DOTALL),
    "'''": re.compile(r"\\[^{}]|\{\{?|\}\}?|'''", re.DOTALL),
    '"""': re.compile(r'\\[^{}]|\{\{?|\}\}?|"""', re.DOTALL),
}
_COMMENT_END: Final = re.compile(r"\{[^{}]*=\}|=\}")
# What may follow a block; in a width it is a term, and ``+`` may follow.
_AFTER_END: Final = re.compile(r"[ \t\r]*(?:(\w+)|$|[;,)\]}@#]|//|/\*|\+[ \t]*[\w{])")
_LF_LINE: Final = re.compile(
    r"""[ \t]*(?:
        (?:reaction|mutation)\b
      | (?:input|output)[ \t]*\[
      | (\w+)\b(?![ \t]*[=.(+\-*/%,:\[])
      | [}@] | // | \#
      | \r?$
    )""",
    re.VERBOSE | re.MULTILINE,
)
_LF_WORDS: Final = (MEMBER_WORDS | CLASS_WORDS | {"reset"}) - {"import"}


class CodeScanner:
    """Finds the ends of the code blocks of one text.

    It stores where strings did not end, so that the time for all blocks of a text is
    linear in its length.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        # Up to where quotes of a kind, and f-strings, are known not to be closed.
        self._lone_until = dict.fromkeys(_REST, -1)
        self._plain_until = -1

    def block(self, start: int) -> Block:
        """Return the block whose ``{=`` is at ``start``."""
        text = self._text
        at = start + 2
        while match := _STOP.search(text, at):
            stop = match[0]
            if stop == "=}":
                return Block(match.start(), match.end(), closed=True)
            if stop == "{=":
                end = self._first_lf_line(start + 2, match.start())
                return Block(end, end, closed=False)
            if stop[0] == "#":
                end = self._end_in_comment(match.start(), match.end())
                if end >= 0:
                    return Block(end, end + 2, closed=True)
                at = match.end()
            else:
                at = self._after_string(match)
        end = self._first_lf_line(start + 2, len(text))
        return Block(end, end, closed=False)

    def braces(self, start: int) -> Block:
        """Return the block in plain braces that opens at ``start``.

        It ends with the matching brace, or with a ``=}``.
        """
        text = self._text
        depth = 0
        at = start
        while match := _BRACES.search(text, at):
            stop = match[0]
            at = match.end()
            if stop == "=}":
                return Block(match.start(), at, closed=True)
            if stop == "{=":
                break
            if stop == "{":
                depth += 1
            elif stop == "}":
                depth -= 1
                if not depth:
                    return Block(match.start(), at, closed=True)
            elif stop[0] != "#":
                at = self._after_string(match)
        return Block(start + 1, start + 1, closed=False)

    def _end_in_comment(self, start: int, end: int) -> int:
        for match in _COMMENT_END.finditer(self._text, start, end):
            after = _AFTER_END.match(self._text, match.end(), end)
            if match[0] == "=}" and after and (not after[1] or after[1] in KEYWORDS):
                return match.start()
        return -1

    def _after_string(self, match: re.Match[str]) -> int:
        """Return the end of the string that begins at a match, else of its quote."""
        prefix, quote = (match[1] or "").lower(), match[2]
        if prefix in _FORMATTED and match.start() >= self._plain_until:
            end = self._formatted(match.end(), quote)
            if end >= 0:
                return end
        return self._plain(match.end(), quote)

    def _plain(self, at: int, quote: str) -> int:
        if at <= self._lone_until[quote]:
            return at
        rest = _REST[quote].match(self._text, at)
        if rest:
            return rest.end()
        if len(quote) == 3:
            self._lone_until[quote] = len(self._text)
        else:
            line_end = self._text.find("\n", at)
            self._lone_until[quote] = line_end if line_end >= 0 else len(self._text)
        return at

    def _formatted(self, at: int, quote: str) -> int:
        """Return the end of an f-string by the rules of Python 3.12; -1 if it has none.

        A string that is valid by older rules ends at the same position.
        """
        text = self._text
        # The stack of open delimiters: quotes of strings, "{" of fields, ":" of
        # format specifications, and brackets inside fields.
        open_: list[str] = [quote]
        quotes = [quote]
        while open_:
            inside = open_[-1]
            in_literal = inside in _REST or inside == ":"
            stops = _LITERAL_STOP[quotes[-1]] if in_literal else _FIELD_STOP
            match = stops.search(text, at)
            if not match:
                self._plain_until = len(text)
                return -1
            stop = match[0]
            at = match.end()
            if in_literal:
                if stop == quotes[-1] and inside == stop:
                    open_.pop()
                    quotes.pop()
                elif stop == "{" or (stop == "{{" and inside == ":"):
                    open_.append("{")
                    at = match.start() + 1
                elif stop[0] == "}" and inside == ":":
                    del open_[-2:]
                    at = match.start() + 1
                elif stop == "\n" or stop == quotes[-1]:
                    self._plain_until = at
                    return -1
            elif match[2]:
                if (match[1] or "").lower() in _FORMATTED:
                    open_.append(match[2])
                    quotes.append(match[2])
                    continue
                end = self._plain(at, match[2])
                if end == at:
                    self._plain_until = at
                    return -1
                at = end
            elif stop in "([{":
                open_.append(stop)
            elif stop in ")]}":
                # Closes a field or a bracket inside one; both just pop.
                open_.pop()
            elif stop == ":" and inside == "{" and self._is_field(open_):
                open_.append(":")
        return at

    @staticmethod
    def _is_field(open_: list[str]) -> bool:
        return len(open_) > 1 and (open_[-2] in _REST or open_[-2] == ":")

    def _first_lf_line(self, start: int, end: int) -> int:
        """Return where the lines of LF before ``end`` begin; ``end`` if none."""
        text = self._text
        found = end
        while True:
            line = text.rfind("\n", start, found)
            if line < 0:
                return found
            match = _LF_LINE.match(text, line + 1)
            if not match or (match[1] and match[1] not in _LF_WORDS):
                return found
            found = line
