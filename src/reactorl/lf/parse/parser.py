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
"""After so many syntax errors the rest of a file is not looked at."""

MOST_SKIPPED: Final = 20_000
"""Nor is it after so many words in a row that mean nothing: it is not an LF file."""


def parse(source: Source, report: Report) -> syntax.File:
    """Return the tree of a text.

    Any text gives a tree. It holds what could be understood; what is wrong goes into
    the report.
    """
    return _Parser(source, report).run()


class _Parser:
    def __init__(self, source: Source, report: Report) -> None:
        self._source = source
        self._report = report
        self._lexer = Lexer(source.text)
        self._machine = LalrParser(TreeBuilder(source, self._error))
        self._token = self._lexer.next()
        self._errors = 0
        self._silent = False
        self._peeked: Token | None = None  # the one after it, if it was looked at
        self._kept: Token | None = None  # where the last skipping ended
        self._last: Token | None = None  # the last word that fitted before it
        self._skipped = 0  # words since then

    def run(self) -> syntax.File:
        machine, lexer = self._machine, self._lexer
        while not machine.is_done:
            token = self._token
            if not machine.feed(token):
                self._recover()
            elif token.kind != END:
                if token.problem:
                    self._error(self._span(token), *token.problem)
                if self._token is token:
                    self._advance()
        tree: syntax.File = machine.values[0]
        kept = tuple(r for r in tree.reactors if r.name is not None or r.kind)
        if self._errors:
            # A head that was not understood has been told of already.
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
        """Leave out the rest, and bring what has been understood into form."""
        what = f"{why}: the rest of the file is left out"
        self._report.error(self._source, span, what)
        self._silent = True
        end = len(self._source.text)
        self._token = Token(END, "", end, end)
        self._peeked = None

    # -- words that do not fit --

    def _recover(self) -> None:
        token = self._token
        if token.kind == "?" and token.problem is not None:
            self._drop_word(token)
            return
        if token.kind == END or token.kind in CLASS_STARTS:
            recovery.drop_attributes(self._machine)
            if self._machine.fits("}"):
                self._close_brace()
                return
        # Where skipping ended, all has been said.
        if token is not self._kept:
            if self._repair(token):
                return
            if self._token is not token:
                return  # one error too many
        if token.kind == END:
            self._silent = True
        self._give_up()

    def _drop_word(self, token: Token) -> None:
        """Go on as if a word that means nothing were not there."""
        assert token.problem is not None
        self._error(token.span, *token.problem)
        if self._token is not token:
            return  # one error too many
        self._advance()
        if token.text in "([{":  # nested too deep
            self._give_up()
        elif token.text in ("/*", "'''"):
            self._silent = True  # the rest is inside of the comment

    def _advance(self) -> None:
        if self._peeked is None:
            self._token = self._lexer.next()
        else:
            self._token, self._peeked = self._peeked, None

    def _repair(self, token: Token) -> bool:
        """Go on as if the text were right, if it is clear what is meant."""
        machine = self._machine
        if token.kind == "{" and machine.fits("CODE"):
            self._error(
                token.span,
                "a code block begins with '{=', not with '{'",
                "Write {= ... =}",
            )
            if self._token is token:
                self._token = self._lexer.take_braces_for_code(token)
                self._peeked = None
            return True
        if recovery.may_be_name(machine, token):
            if self._peeked is None:
                self._peeked = self._lexer.next()
            if recovery.may_follow_name(machine, self._peeked):
                what = f"'{token.text}' is a word of LF and cannot be a name"
                self._error(token.span, what, "")
                token.kind = "NAME"
                return True
        return self._supply(token)

    def _supply(self, token: Token) -> bool:
        """Tell what is wrong; supply a word if only that one is missing."""
        machine = self._machine
        before = machine.history[-1] if machine.history else None
        expected = machine.expected()
        hint = messages.recognise(token, list(machine.history), expected)
        if hint is not None and hint.what:
            self._error(hint.span, hint.what, hint.advice)
            return False
        advice = hint.advice if hint else ""
        if self._peeked is None:
            self._peeked = self._lexer.next()
        missing = recovery.missing_word(machine, token, self._peeked)
        words = messages.in_words({missing} if missing else expected, before)
        after = f" after {messages.found(before)}" if before else ""
        what = f"expected {words}{after}, found {messages.found(token)}"
        place = recovery.span_of(token, before)
        opening = recovery.left_open(machine) if token.kind == END else None
        if opening is not None:
            what, place = f"this '{opening.text}' is not closed", opening.span
        self._error(place, what, advice)
        if missing is None or before is None or self._token is not token:
            return False
        machine.feed(recovery.supplied(missing, before.end))
        return True

    def _close_brace(self) -> None:
        machine = self._machine
        opening = next(
            value
            for value in reversed(machine.values)
            if isinstance(value, Token) and value.kind == "{"
        )
        self._error(opening.span, "this '{' is not closed", "Add the missing '}'.")
        machine.feed(recovery.supplied("}", machine.history[-1].end))
        machine.settle(self._token.start)

    def _give_up(self) -> None:
        """Give up what cannot be understood, and go on behind it."""
        machine = self._machine
        machine.settle(self._token.start)
        name, depth = machine.nearest(recovery.LEVELS)
        given_up = machine.drop(depth)
        first = self._token
        last = machine.history[-1] if machine.history else None
        if last is not self._last:
            self._last, self._skipped = last, 0
        head = recovery.head(given_up)
        if head is not None and self._skip_to_brace():
            machine.push(head[0], head[1], first.start)
            return
        skipper = recovery.Skipper(name, given_up)
        if self._token is self._kept and self._token.kind != END:
            skipper.skip(self._token.kind)
            self._skip()
        while not skipper.keeps(self._token):
            self._skip()
        self._kept = self._token
        if name == "entry" and self._token.kind == ",":
            machine.push("entry", None, first.start)

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
            self._stop(self._token.span, "nothing here is understood")
