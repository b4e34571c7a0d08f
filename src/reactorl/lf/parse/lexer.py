# SPDX-License-Identifier: Apache-2.0
"""The lexer: splits a ``.lf`` text into tokens.

A few tokens depend on the context: property values may be bare paths, ``at`` is
followed by a host, ``from`` by a package, a number may have a unit. The lexer finds the
context from the preceding tokens and never asks the parser, so the tokens do not depend
on the parser's state.

A lexical error is stored in its token (``Token.problem``) and reported only if the
parser consumes the token.
"""

from __future__ import annotations

import re
from typing import Final

from reactorl.lf.parse import messages
from reactorl.lf.parse.code_block import CodeScanner
from reactorl.lf.parse.keywords import BOOLS, CLASS_WORDS, END, KEYWORDS, TIMES
from reactorl.lf.parse.syntax import Comment
from reactorl.lf.parse.time_units import TIME_UNITS
from reactorl.lf.source import Span

DEEPEST: Final = 100
"""Maximum nesting of brackets, because later stages are recursive."""

_WORD: Final = re.compile(
    r"""
    (?P<blank>   [ \t\r\n\f\v]+ )
  | (?P<word>    [^\W\d]\w* )
  | (?P<line>    (?: // | \# ) [^\n]* )
  | (?P<long_comment> /\* | ''' )
  | (?P<arrow>   => | -{1,9}-> | \N{RIGHTWARDS ARROW} )
  | (?P<code>    \{= )
  | (?P<number>  -?(?: [0-9]+ (?:\.[0-9]+)? | \.[0-9]+ ) (?:[eE][+-]?[0-9]+)? )
  | (?P<long>    \"\"\" )
  | (?P<string>  " (?: [^"\\\r\n]++ | \\[^\r\n] )*+ "? )
  | (?P<char>    ' (?: [^'\\\r\n]++ | \\[^\r\n] )*+ '? )
  | (?P<mark>    -> | ~> | :: | =\} | ;+ | [][{}(),:.=+*<>@] )
  | (?P<unknown> [^\s\w"'\#/{}()\[\],;:.=+*<>@~-]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_PROPERTY_WORD: Final = re.compile(
    r"(?:\.{1,2}/|/(?![/*]))*+(?:[^\W\d][\w.-]*)?(?:/(?![/*])[\w.-]*)*"
)
_UNIT: Final = re.compile(r"(\s*)([^\W\d]\w*)(?=\s*(=(?!\})|\.|->|~>)?)")
_NEW: Final = re.compile(r"\s*=\s*new\b")
_REMARK: Final = r"//[^\n]*|\#[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/|\'\'\'.*?\'\'\'"
_LEFT: Final = re.compile(
    rf"\((?:interleaved\s*\([\w\s.]*+\)|[\w\s.,]|{_REMARK})*+\)"
    rf"(?:\s|{_REMARK})*+(?:\+|->|~>)",
    re.DOTALL,
)
_HOST: Final = re.compile(r"(?:[\w.-]+@)?(?:\[[^\]\s]*\]|[\w.-]+)(?::[0-9]+)?")
_PACKAGE: Final = re.compile(r"<([^<>\n]*)>")
_LONG_STRING: Final = re.compile(r'"""(?:[^"\\]++|\\.|"(?!""))*+"""', re.DOTALL)
_CHAR: Final = re.compile(r"'(?:[^\\]|\\(?:[^xuU0-7]|[xuU0-7][0-9a-fA-F]*))'")
_CLOSES: Final = {")": "(", "]": "[", "}": "{"}
_BEFORE_SIGN: Final = frozenset(["=", "(", "[", ",", ":"])


class Token:
    """A token.

    Attributes:
        kind: Its terminal in the grammar; keywords and punctuation are their own kind.
        text: Its text; for code and packages without the delimiters.
        first: Whether it is the first on its line.
        problem: Its lexical error and the remedy, if there is an error.
    """

    __slots__ = ("end", "first", "kind", "problem", "start", "text")

    def __init__(
        self, kind: str, text: str, start: int, end: int, *, first: bool = False
    ) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end
        self.first = first
        self.problem: tuple[str, str] | None = None

    @property
    def span(self) -> Span:
        """Its position in the text."""
        return Span(self.start, self.end)


class Lexer:
    """Returns the tokens of a text, one at a time.

    Attributes:
        comments: The comments read so far.
    """

    def __init__(self, text: str) -> None:
        self.comments: list[Comment] = []
        self._text = text
        self._at = 1 if text.startswith("\ufeff") else 0
        self._code = CodeScanner(text)
        self._first = True
        self._before = ""  # kinds of the last token and of the one before it
        self._before_that = ""
        self._open: list[str] = []
        self._properties = 0  # how many brackets are open in a property list, else 0
        self._long_strings_end = True

    def next(self) -> Token:
        """Return the next token; at the end of the text always an ``END`` token."""
        token = self._next()
        self._first = False
        self._before_that = self._before
        self._before = token.kind
        return token

    def take_braces_for_code(self, brace: Token) -> Token:
        """Return the code between plain braces as if they were ``{=`` and ``=}``.

        The lexer continues after them; tokens returned since the brace are void.
        """
        block = self._code.braces(brace.start)
        token = self._token(
            "CODE", brace.start, block.end, self._text[brace.end : block.text_end]
        )
        token.first = brace.first
        while self.comments and self.comments[-1].span.start > brace.start:
            self.comments.pop()
        if "{" in self._open:
            while self._open.pop() != "{":
                pass
        self._before = "CODE"
        return token

    def _next(self) -> Token:
        text = self._text
        while match := _WORD.match(text, self._at):
            group = match.lastgroup
            if group == "blank":
                self._at = match.end()
                self._first = self._first or "\n" in match[0]
            elif group == "line" or group == "long_comment":
                problem = self._comment(match)
                if problem:
                    return problem
            elif self._before == "at" and (host := _HOST.match(text, self._at)):
                return self._token("HOST", self._at, host.end())
            elif group == "word":
                return self._word(match)
            elif group == "mark":
                return self._mark(match)
            elif group == "number":
                return self._number(match.start(), match.end())
            else:
                return self._other(match)
        return Token(END, "", len(text), len(text), first=True)

    def _token(self, kind: str, start: int, end: int, text: str | None = None) -> Token:
        self._at = end
        if text is None:
            text = self._text[start:end]
        return Token(kind, text, start, end, first=self._first)

    def _comment(self, match: re.Match[str]) -> Token | None:
        """Store a comment; return an error token if it is not closed."""
        text = self._text
        start, end = match.span()
        closed = True
        if match.lastgroup == "line":
            end = start + len(match[0].rstrip("\r"))
        else:
            close = "*/" if match[0] == "/*" else match[0]
            found = text.find(close, end)
            closed = found >= 0
            end = found + len(close) if closed else len(text)
            self._first = self._first or "\n" in text[start:end]
        self.comments.append(Comment(text[start:end], span=Span(start, end)))
        self._at = end
        if closed:
            return None
        token = Token("?", match[0], start, match.end(), first=self._first)
        token.problem = messages.open_comment(match[0])
        return token

    def _word(self, match: re.Match[str]) -> Token:
        start, end = match.span()
        word = match[0]
        before = self._before
        if self._properties:
            if not self._ends_properties(word, end):
                return self._property(start)
            self._properties = 0
        if before == "@" or (before == "." and not self._first):
            return self._token("NAME", start, end)
        if word in KEYWORDS:
            return self._token(word, start, end)
        if word in BOOLS:
            return self._token("BOOL", start, end)
        if word in TIMES:
            return self._token("TIME", start, end)
        is_new = _NEW.match(self._text, end) is not None
        token = self._token("NEW_NAME" if is_new else "NAME", start, end)
        if not word.isascii():
            token.problem = messages.foreign_letters(word)
        return token

    def _ends_properties(self, word: str, end: int) -> bool:
        """Return whether a word shows that a property list was not closed."""
        if word not in CLASS_WORDS and word != "preamble":
            return False
        after = self._text[end : end + 80].lstrip()
        return self._first and not after.startswith((":", ",", "]", "}"))

    def _property(self, start: int) -> Token:
        match = _PROPERTY_WORD.match(self._text, start)
        end = match.end() if match and match[0] else start + 1
        token = self._token("WORD", start, end)
        if token.text in BOOLS:
            token.kind = "BOOL"
        elif token.text in TIMES:
            token.kind = "TIME"
        return token

    def _number(self, start: int, end: int) -> Token:
        text = self._text
        number = text[start:end]
        is_whole = number.lstrip("+-").isdigit()
        unit = _UNIT.match(text, end)
        if unit and self._is_unit(unit):
            token = self._token("TIME", start, unit.end())
            token.problem = messages.time(number, unit[2], is_whole=is_whole)
            return token
        token = self._token("INT" if is_whole else "FLOAT", start, end)
        token.problem = messages.number(number)
        return token

    def _is_unit(self, unit: re.Match[str]) -> bool:
        blank, word, follows = unit.groups()
        if not blank:
            return True
        if word in KEYWORDS or word in BOOLS or word in TIMES:
            return False
        if "\n" in blank:
            # Line ends have no meaning, but a statement may begin here.
            inside = bool(self._open) and self._open[-1] in "(["
            return word in TIME_UNITS and (inside or not follows)
        return not follows

    def _mark(self, match: re.Match[str]) -> Token:
        start, end = match.span()
        mark = match[0]
        text = self._text
        before = self._before
        if mark in "([{":
            return self._opening(mark, start, end)
        if mark in _CLOSES:
            if _CLOSES[mark] in self._open:
                while self._open.pop() != _CLOSES[mark]:
                    pass
            if len(self._open) < self._properties:
                self._properties = 0
        elif mark == "<" and before == "from":
            package = _PACKAGE.match(text, start)
            if package:
                return self._token("PACKAGE", start, package.end(), package[1].strip())
        elif mark == "+" and before in _BEFORE_SIGN:
            number = _WORD.match(text, end)
            if number and number.lastgroup == "number" and number[0][0] != "-":
                return self._number(start, number.end())
        elif mark == "." and self._properties and (text[end : end + 1] in "./"):
            return self._property(start)
        elif mark == "=}":
            token = self._token("?", start, end)
            token.problem = messages.stray_code_end()
            return token
        return self._token(";" if mark[0] == ";" else mark, start, end)

    def _opening(self, mark: str, start: int, end: int) -> Token:
        if mark == "{" and (self._before_that, self._before) == ("target", "NAME"):
            self._properties = len(self._open) + 1
        if len(self._open) == DEEPEST:
            token = self._token("?", start, end)
            token.problem = messages.too_deep(DEEPEST)
            return token
        self._open.append(mark)
        if mark == "(" and self._is_left(start):
            return self._token("LEFT", start, end)
        return self._token(mark, start, end)

    def _is_left(self, start: int) -> bool:
        """Return whether a parenthesis begins a connection, not a list of arguments."""
        heads = ("reaction", "mutation", "watchdog", "interleaved")
        return (
            self._first
            and self._before not in heads
            and self._before_that not in heads
            and _LEFT.match(self._text, start) is not None
        )

    def _other(self, match: re.Match[str]) -> Token:
        start, end = match.span()
        group = match.lastgroup
        text = self._text
        if group == "code":
            block = self._code.block(start)
            token = self._token("CODE", start, block.end, text[end : block.text_end])
            if not block.closed:
                token.problem = messages.open_code()
            return token
        if group == "long":
            return self._long_string(start)
        if group == "arrow":
            token = self._token("->", start, end)
            token.problem = messages.arrow(match[0])
            return token
        if group == "string":
            token = self._token("STRING", start, end)
            if end - start < 2 or not match[0].endswith('"') or _is_open(match[0]):
                token.problem = messages.open_string()
            return token
        if group == "char":
            token = self._token("CHAR", start, end)
            if not _CHAR.fullmatch(match[0]):
                token.problem = messages.char(match[0])
            return token
        if match[0] == "/" and self._properties:
            return self._property(start)
        token = self._token("?", start, end)
        token.problem = messages.unknown(match[0])
        return token

    def _long_string(self, start: int) -> Token:
        text = self._text
        match = _LONG_STRING.match(text, start) if self._long_strings_end else None
        if match:
            return self._token("STRING", start, match.end())
        self._long_strings_end = False
        end = text.find("\n", start)
        token = self._token("STRING", start, end if end >= 0 else len(text))
        token.problem = messages.open_string()
        return token


def _is_open(string: str) -> bool:
    """Return whether the last quote of a string is escaped."""
    inside = string[1:-1]
    return (len(inside) - len(inside.rstrip("\\"))) % 2 == 1
