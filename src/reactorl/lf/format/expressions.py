# SPDX-License-Identifier: Apache-2.0
"""Prints expressions, attributes and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from reactorl.lf.format.tokens import Layout, Spelling, Token
from reactorl.lf.parse import syntax
from reactorl.lf.source import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")
Pieces: TypeAlias = list[Token | Layout]

SPACE, SOFT, LINE = Layout.SPACE, Layout.SOFT, Layout.LINE


class ExprPrinter:
    """Prints tokens and layout; every method appends to ``pieces``."""

    def __init__(self) -> None:
        self.pieces: Pieces = []

    # -- helpers --------------------------------------------------------------------

    def put(self, *parts: str | Layout) -> None:
        """Print tokens and layout."""
        for part in parts:
            self.pieces.append(Token(part) if isinstance(part, str) else part)

    def words(self, *words: str | None) -> None:
        """Print words that are not empty, each with a space after it."""
        for word in words:
            if word:
                self.put(word, SPACE)

    def opaque(
        self, node: syntax.Type | syntax.Host | syntax.Path | syntax.Name
    ) -> None:
        """Print the text of a node as in the source."""
        span = None if node.span == NOWHERE else node.span
        self.pieces.append(Token(node.text, Spelling.OPAQUE, span))

    def commas(self, items: Iterable[T], put: Callable[[T], None]) -> None:
        """Print items with commas between them."""
        for n, item in enumerate(items):
            if n:
                self.put(",", SOFT)
            put(item)

    def brackets(
        self, marks: str, items: Sequence[T], put: Callable[[T], None]
    ) -> None:
        """Print items in brackets, on one line or on a line each."""
        self.put(marks[0])
        if items:
            self.put(Layout.OPEN)
            self.commas(items, put)
            self.put(Layout.CLOSE)
        self.put(marks[1])

    def attributes(
        self, attributes: Iterable[syntax.Attribute], after: Layout = LINE
    ) -> None:
        """Print attributes, each on its own line or all in the line."""
        for attribute in attributes:
            self.put("@", attribute.name.text)
            if attribute.args is not None:
                self.brackets("()", attribute.args, self.attribute_arg)
            self.put(after)

    def attribute_arg(self, arg: syntax.AttributeArg) -> None:
        """Print an argument of an attribute."""
        if arg.name is not None:
            self.put(arg.name.text, SPACE, "=", SPACE)
        self.expr(arg.value)

    def type(self, type_: syntax.Type | None) -> None:
        """Print a type, if there is one."""
        if type_ is not None:
            self.put(":", SPACE)
            self.opaque(type_)

    def host(self, host: syntax.Host | None) -> None:
        """Print the host of a federate, if there is one."""
        if host is not None:
            self.put(SPACE, "at", SPACE)
            self.opaque(host)

    # -- expressions ----------------------------------------------------------------

    def name(self, name: syntax.Name) -> None:
        """Print a name."""
        self.put(name.text)

    def code(self, code: syntax.Code) -> None:
        """Print a code block."""
        self.pieces.append(Token(code.text, Spelling.CODE))

    def expr(self, expr: syntax.Expr | syntax.Item) -> None:
        """Print an expression or the value of a property."""
        match expr:
            case syntax.Bool():
                spelled = "true" if expr.value else "false"
                self.pieces.append(Token(spelled, Spelling.BOOL))
            case syntax.Time(None, unit):
                self.put(unit)
            case syntax.Time(magnitude, unit):
                self.pieces.append(Token(str(magnitude), Spelling.DIGITS))
                self.put(SPACE, unit)
            case syntax.ParamRef():
                self.put(expr.name)
            case syntax.Code():
                self.code(expr)
            case syntax.Path():
                self.opaque(expr)
            case syntax.List() | syntax.ItemList():
                self.brackets("[]", expr.items, self.expr)
            case syntax.Dict():
                self.brackets("{}", expr.entries, self.entry)
            case _:
                self.put(expr.text)

    def entry(self, entry: syntax.Entry) -> None:
        """Print a property."""
        self.put(entry.key, ":", SPACE)
        self.expr(entry.value)

    def initial(self, expr: syntax.Expr | None) -> None:
        """Print an initial value, if there is one."""
        if expr is not None:
            self.put(SPACE, "=", SPACE)
            self.expr(expr)

    def width(self, width: syntax.Width | None) -> None:
        """Print the width of a multiport or bank, if there is one."""
        if width is None:
            return
        self.put("[")
        for n, term in enumerate(width.terms):
            if n:
                self.put(SPACE, "+", SOFT)
            if isinstance(term, int):
                self.pieces.append(Token(str(term), Spelling.DIGITS))
            elif isinstance(term, syntax.Name):
                self.opaque(term)  # it may be `widthof(a.x)`
            else:
                self.code(term)
        self.put("]")
