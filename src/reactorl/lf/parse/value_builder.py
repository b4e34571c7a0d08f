# SPDX-License-Identifier: Apache-2.0
"""Builds the nodes inside members: values, widths, types, attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.lf.parse import messages, syntax
from reactorl.lf.parse.time_units import TIME_UNITS
from reactorl.lf.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.lf.parse.lexer import Token
    from reactorl.lf.source import Source

Children = list[Any]
"""The values of a rule's symbols: tokens, nodes, tuples of nodes."""


def name_of(token: Token) -> syntax.Name:
    """Return a token as a name."""
    return syntax.Name(token.text, span=token.span)


def code_of(token: Token) -> syntax.Code:
    """Return a token as code."""
    return syntax.Code(token.text, span=token.span)


def string_of(token: Token) -> syntax.String:
    """Return a token as a string."""
    return syntax.String(token.text, span=token.span)


def whole(digits: str) -> int:
    """Return an integer; digits beyond the maximum, an error, are cut off."""
    return int(digits[: messages.LONGEST_NUMBER])


class ValueBuilder:
    """Builds nodes: one method per rule of ``grammar.lark``.

    Attributes:
        text: The text of the file.
        reject: Called with span, error and remedy for each form that is rejected.
    """

    def __init__(
        self, source: Source, reject: Callable[[Span, str, str], None]
    ) -> None:
        self.text = source.text
        self.reject = reject

    def attributes(self, span: Span, parts: Children) -> tuple[syntax.Attribute, ...]:
        """``@a @b``."""
        return tuple(parts)

    def attribute(self, span: Span, parts: Children) -> syntax.Attribute:
        """``@a("b")``."""
        name, args = parts
        return syntax.Attribute(name_of(name), args, span=span)

    def attribute_args(
        self, span: Span, parts: Children
    ) -> tuple[syntax.AttributeArg, ...]:
        """``("b", c = 1)``."""
        return tuple(a for a in parts if a is not None)

    def attribute_arg(self, span: Span, parts: Children) -> syntax.AttributeArg:
        """``c = 1``."""
        name, value = parts
        return syntax.AttributeArg(name and name_of(name), value, span=span)

    def width(self, span: Span, parts: Children) -> syntax.Width:
        """``[2 + n]``."""
        terms: list[int | syntax.Name | syntax.Code] = []
        for part in parts:
            if isinstance(part, syntax.Name):
                terms.append(part)
            elif part is None:
                continue
            elif part.kind == "INT":
                terms.append(whole(part.text))
            elif part.kind == "NAME":
                terms.append(name_of(part))
            else:
                terms.append(code_of(part))
        return syntax.Width(tuple(terms), span=span)

    def widthof(self, span: Span, parts: Children) -> syntax.Name:
        """``widthof(a.x)``, as a name that is not a valid parameter."""
        return syntax.Name(self.text[span.start : span.end], span=span)

    def old_init(self, span: Span, parts: Children) -> syntax.Expr | None:
        """Reject ``x(0)`` and ``x{0}``, old forms of ``x = 0``."""
        values = tuple(v for v in parts if v is not None)
        inside = messages.shorten(self.text[span.start + 1 : span.end - 1].strip())
        value = inside if len(values) == 1 else f"[{inside}]"
        self.reject(
            span, "an initial value must be given with '='", f"Write: = {value}"
        )
        return values[0] if len(values) == 1 else syntax.List(values, span=span)

    def type(self, span: Span, parts: Children) -> syntax.Type:
        """``: int``."""
        text = self.text[span.start + 1 : span.end]
        start = span.end - len(text.lstrip())
        return syntax.Type(text.strip(), span=Span(start, span.end))

    def type_args(self, span: Span, parts: Children) -> tuple[syntax.Type, ...]:
        """``<int, T>``."""
        return tuple(t for t in parts if t is not None)

    def type_arg(self, span: Span, parts: Children) -> syntax.Type:
        """Make a type between angle brackets."""
        return syntax.Type(self.text[span.start : span.end], span=span)

    def host(self, span: Span, parts: Children) -> syntax.Host:
        """``at user@host:1234``."""
        return syntax.Host(parts[0].text, span=parts[0].span)

    def nothing(self, span: Span, parts: Children) -> None:
        """Return None for an optional part that is absent."""

    # -- values --

    def list(self, span: Span, parts: Children) -> syntax.List:
        """``[a, b]``."""
        return syntax.List(tuple(v for v in parts if v is not None), span=span)

    def string(self, span: Span, parts: Children) -> syntax.String:
        """Make a string."""
        return syntax.String(parts[0].text, span=span)

    def char(self, span: Span, parts: Children) -> syntax.Char:
        """Make a character."""
        return syntax.Char(parts[0].text, span=span)

    def number(self, span: Span, parts: Children) -> syntax.Number:
        """Make a number."""
        return syntax.Number(parts[0].text, span=span)

    def bool(self, span: Span, parts: Children) -> syntax.Bool:
        """Make a boolean."""
        return syntax.Bool(parts[0].text in ("true", "True"), span=span)

    def time(self, span: Span, parts: Children) -> syntax.Time:
        """``5 ms``."""
        text = parts[0].text
        if text in ("forever", "never"):
            return syntax.Time(None, text, span=span)
        unit = text.lstrip("+-.0123456789").strip()
        digits = text[: len(text) - len(unit)].strip()
        if unit not in TIME_UNITS:
            unit = messages.nearest_unit(unit) or "s"
        integer = digits.split(".")[0].lstrip("+")
        return syntax.Time(
            whole(integer) if integer.lstrip("-").isdigit() else 0, unit, span=span
        )

    def param_ref(self, span: Span, parts: Children) -> syntax.ParamRef:
        """Make a name used as a value."""
        return syntax.ParamRef(parts[0].text, span=span)

    def code(self, span: Span, parts: Children) -> syntax.Code:
        """Make code used as a value."""
        return code_of(parts[0])
