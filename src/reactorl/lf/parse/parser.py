# SPDX-License-Identifier: Apache-2.0
"""Text to syntax tree.

The lexer yields tokens, the LALR parser applies the rules of ``grammar.lark`` to them,
and the tree builder makes the nodes. After a syntax error the parser recovers and
continues, so that one run reports all errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reactorl.lf.parse import messages, recovery, syntax
from reactorl.lf.parse.keywords import CLASS_STARTS, END, MEMBER_WORDS
from reactorl.lf.parse.lalr import LalrParser
from reactorl.lf.parse.lexer import Lexer, Token
from reactorl.lf.parse.tree_builder import TreeBuilder
from reactorl.lf.source import Span

if TYPE_CHECKING:
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.source import Source

MOST_ERRORS: Final = 50
"""After this many syntax errors the rest of a file is skipped."""

MOST_SKIPPED: Final = 20_000
"""So it is after this many unexpected tokens in a row: the text is not LF."""


def parse(source: Source, report: Report) -> syntax.File:
    """Return the syntax tree of a text.

    The tree contains what could be parsed; errors are added to the report.
    """
    return _Parser(source, report).run()


class _Parser:
    def __init__(self, source: Source, report: Report) -> None:
        self._source = source
        self._report = report
        self._lexer = Lexer(source.text)
        self._parser = LalrParser(TreeBuilder(source, self._error))
        self._token = self._lexer.next()
        self._errors = 0
        self._silent = False
        self._peeked: Token | None = None  # the token after it, if it was read
        self._resumed: Token | None = None  # where parsing continued after an error
        self._last: Token | None = None  # the last token shifted before that
        self._skipped = 0  # tokens since then

    def run(self) -> syntax.File:
        parser, lexer = self._parser, self._lexer
        while not parser.is_done:
            token = self._token
            if not parser.feed(token):
                self._recover()
            elif token.kind != END:
                if token.problem:
                    self._error(self._span(token), *token.problem)
                if self._token is token:
                    self._advance()
        tree: syntax.File = parser.values[0]
        kept = tuple(r for r in tree.reactors if r.name is not None or r.kind)
        if self._errors:
            # An error in the head has been reported already.
            tree = replace(tree, reactors=kept)
        return replace(tree, comments=tuple(lexer.comments))

    def _span(self, token: Token) -> Span:
        if token.kind == "CODE":
            return Span(token.start, token.start + 2)
        return token.span

    def _error(self, span: Span, what: str, advice: str) -> None:
        if self._silent:
            return
        self._report.error(self._source, span, what, advice)
        self._errors += 1
        if self._errors == MOST_ERRORS:
            self._stop(span, f"more than {MOST_ERRORS} errors")

    def _stop(self, span: Span, why: str) -> None:
        """Skip the rest of the file."""
        what = f"{why}: the rest of the file is skipped"
        self._report.error(self._source, span, what)
        self._silent = True
        end = len(self._source.text)
        self._token = Token(END, "", end, end)
        self._peeked = None

    # -- tokens that do not fit --

    def _recover(self) -> None:
        token = self._token
        if token.kind == "?" and token.problem is not None:
            self._drop_token(token)
            return
        if token.kind == END or token.kind in CLASS_STARTS:
            recovery.drop_attributes(self._parser)
            if self._parser.fits("}"):
                self._close_brace()
                return
        # Where parsing resumed, the error has been reported.
        if token is not self._resumed:
            if self._repair(token):
                return
            if self._token is not token:
                return  # MOST_ERRORS reached
        if token.kind == END:
            self._silent = True
        self._discard()

    def _drop_token(self, token: Token) -> None:
        """Report an invalid token and continue after it."""
        assert token.problem is not None
        self._error(token.span, *token.problem)
        if self._token is not token:
            return  # MOST_ERRORS reached
        self._advance()
        if token.text in "([{":  # nested too deep
            self._discard()
        elif token.text in ("/*", "'''"):
            self._silent = True  # the rest is part of the comment

    def _advance(self) -> None:
        if self._peeked is None:
            self._token = self._lexer.next()
        else:
            self._token, self._peeked = self._peeked, None

    def _repair(self, token: Token) -> bool:
        """Correct an obvious mistake; return whether there was one."""
        parser = self._parser
        if token.kind == "{" and parser.fits("CODE"):
            self._error(
                token.span,
                "a code block must begin with '{=', got '{'",
                "Write {= ... =}",
            )
            if self._token is token:
                self._token = self._lexer.take_braces_for_code(token)
                self._peeked = None
            return True
        if recovery.may_be_name(parser, token):
            if self._peeked is None:
                self._peeked = self._lexer.next()
            if recovery.may_follow_name(parser, self._peeked):
                what = f"'{token.text}' is a keyword and cannot be a name"
                self._error(token.span, what, "")
                token.kind = "NAME"
                return True
        return self._insert(token)

    def _insert(self, token: Token) -> bool:
        """Report the error; insert a token if only that one is missing."""
        parser = self._parser
        before = parser.history[-1] if parser.history else None
        expected = parser.expected()
        hint = messages.recognise(token, list(parser.history), expected)
        if hint is not None and hint.what:
            self._error(hint.span, hint.what, hint.advice)
            return False
        advice = hint.advice if hint else ""
        if self._peeked is None:
            self._peeked = self._lexer.next()
        missing = recovery.missing_token(parser, token, self._peeked)
        words = messages.in_words({missing} if missing else expected, before)
        after = f" after {messages.found(before)}" if before else ""
        what = f"expected {words}{after}, found {messages.found(token)}"
        place = recovery.span_of(token, before)
        opening = recovery.left_open(parser) if token.kind == END else None
        if opening is not None:
            what, place = f"this '{opening.text}' is not closed", opening.span
        self._error(place, what, advice)
        if missing is None or before is None or self._token is not token:
            return False
        parser.feed(recovery.inserted(missing, before.end))
        return True

    def _close_brace(self) -> None:
        parser = self._parser
        opening = next(
            value
            for value in reversed(parser.values)
            if isinstance(value, Token) and value.kind == "{"
        )
        self._error(opening.span, "this '{' is not closed", "Add the missing '}'.")
        parser.feed(recovery.inserted("}", parser.history[-1].end))
        parser.settle(self._token.start)

    def _discard(self) -> None:
        """Discard what cannot be parsed, and continue after it."""
        parser = self._parser
        parser.settle(self._token.start)
        name, depth = parser.nearest(recovery.LEVELS)
        discarded = parser.drop(depth)
        first = self._token
        last = parser.history[-1] if parser.history else None
        if last is not self._last:
            self._last, self._skipped = last, 0
        head = recovery.head(discarded)
        if head is not None and self._skip_to_brace():
            parser.push(head[0], head[1], first.start)
            return
        skipper = recovery.Skipper(name, discarded)
        if self._token is self._resumed and self._token.kind != END:
            skipper.skip(self._token.kind)
            self._skip()
        while not skipper.keeps(self._token):
            self._skip()
        self._resumed = self._token
        if name == "entry" and self._token.kind == ",":
            parser.push("entry", None, first.start)

    def _skip_to_brace(self) -> bool:
        stops = MEMBER_WORDS | CLASS_STARTS | {"}", END, "CODE"}
        while self._token.kind not in stops:
            if self._token.kind == "{":
                return True
            self._skip()
        return False

    def _skip(self) -> None:
        self._advance()
        self._skipped += 1
        if self._skipped == MOST_SKIPPED:
            self._stop(self._token.span, f"{MOST_SKIPPED} unexpected tokens in a row")
