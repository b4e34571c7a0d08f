# SPDX-License-Identifier: Apache-2.0
"""Makes the nodes of the syntax tree: one method per rule of ``lf.lark``.

A method receives the stretch of text of its rule and what the rule's parts made:
words as tokens, nodes, or lists of nodes. Forms that parse only so that they can be
refused, and have no place in the tree, are refused here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.lf import slips, syntax
from reactorl.lf.lexer import Token
from reactorl.lf.source import Span
from reactorl.lf.words import UNITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.lf.source import Source

Children = list[Any]


def _name(token: Token) -> syntax.Name:
    return syntax.Name(token.text, span=token.span)


def _maybe_name(token: Token | None) -> syntax.Name | None:
    return token and _name(token)


def _code(token: Token) -> syntax.Code:
    return syntax.Code(token.text, span=token.span)


def _maybe_code(token: Token | None) -> syntax.Code | None:
    return token and _code(token)


def _string(token: Token) -> syntax.String:
    return syntax.String(token.text, span=token.span)


def _whole(digits: str) -> int:
    # A longer one has been refused already.
    return int(digits[: slips.LONGEST_NUMBER])


class TreeBuilder:
    """Makes nodes.

    Attributes:
        refuse: Called with place, fact and way out for each form that is refused.
    """

    def __init__(
        self, source: Source, refuse: Callable[[Span, str, str], None]
    ) -> None:
        self._text = source.text
        self.refuse = refuse

    # -- a file --

    def start(self, span: Span, parts: Children) -> syntax.File:
        """Sort the parts of a file; each kind has its place."""
        kinds: list[type] = [
            syntax.Target,
            syntax.Import,
            syntax.Preamble,
            syntax.Reactor,
        ]
        words = ["the target line", "imports", "preambles", "reactors"]
        sorted_: list[list[Any]] = [[], [], [], []]
        latest = 0
        for part in parts:
            kind = kinds.index(type(part))
            if kind < latest:
                self.refuse(
                    self._head(part.span),
                    f"{words[kind]} must stand before {words[latest]}",
                    "A file consists of target, imports, preambles and reactors, "
                    "in this order.",
                )
            elif kind == 0 and sorted_[0]:
                self.refuse(
                    self._head(part.span), "a file has only one target line", ""
                )
            latest = max(kind, latest)
            sorted_[kind].append(part)
        targets, imports, preambles, reactors = sorted_
        return syntax.File(
            target=targets[0] if targets else None,
            imports=tuple(imports),
            preambles=tuple(preambles),
            reactors=tuple(reactors),
            span=Span(0, len(self._text)),
        )

    def _head(self, span: Span) -> Span:
        """Return the first word of a stretch."""
        end = span.start
        while end < span.end and self._text[end].isalpha():
            end += 1
        return Span(span.start, max(end, span.start + 1))

    def target(self, span: Span, parts: Children) -> syntax.Target:
        """``target Python {...}``."""
        name, properties = parts
        return syntax.Target(_name(name), properties, span=span)

    def dict(self, span: Span, parts: Children) -> syntax.Dict:
        """``{key: value}``."""
        return syntax.Dict(tuple(e for e in parts if e is not None), span=span)

    def entry(self, span: Span, parts: Children) -> syntax.Entry:
        """``key: value``."""
        key, value = parts
        return syntax.Entry(key.text, value, key_span=key.span, span=span)

    def path(self, span: Span, parts: Children) -> syntax.Path:
        """Make a bare word or path."""
        return syntax.Path(parts[0].text, span=span)

    def item_list(self, span: Span, parts: Children) -> syntax.ItemList:
        """``[item, item]``."""
        return syntax.ItemList(tuple(i for i in parts if i is not None), span=span)

    def import_(self, span: Span, parts: Children) -> syntax.Import:
        """``import A from "b.lf"``."""
        *names, origin = parts
        if origin.kind == "PACKAGE":
            package = syntax.Package(origin.text, span=origin.span)
            return syntax.Import(tuple(names), package, span=span)
        return syntax.Import(tuple(names), _string(origin), span=span)

    def imported(self, span: Span, parts: Children) -> syntax.ImportedName:
        """``A as B``."""
        name, alias = parts
        return syntax.ImportedName(_name(name), _maybe_name(alias), span=span)

    def preamble(self, span: Span, parts: Children) -> syntax.Preamble:
        """``preamble {= =}``."""
        visibility, code = parts
        return syntax.Preamble(
            _code(code), visibility and visibility.text, span=span
        )

    # -- a reactor --

    def reactor_head(self, span: Span, parts: Children) -> Children:
        """Keep what stands before the members."""
        return parts

    def reactor(self, span: Span, parts: Children) -> syntax.Reactor:
        """``main reactor R(p = 0) extends B { ... }``."""
        head, *members = parts
        attributes, modifiers, name, generics, params, host, bases = head
        words = [m.text for m in modifiers]
        for token in modifiers[1:]:
            if token.text in words[: words.index(token.text)] or (
                {"main", "federated"} <= set(words) and token.text != "realtime"
            ):
                self.refuse(token.span, f"one word too many: '{token.text}'", "")
                break
        kinds = [w for w in words if w != "realtime"]
        return syntax.Reactor(
            _maybe_name(name),
            tuple(members),
            kind=kinds[0] if kinds else "",  # type: ignore[arg-type]
            is_realtime="realtime" in words,
            params=params,
            bases=bases,
            generics=generics,
            host=host,
            attributes=attributes,
            span=span,
        )

    def modifiers(self, span: Span, parts: Children) -> Children:
        """``main``, ``federated``, ``realtime``."""
        return parts

    def generics(self, span: Span, parts: Children) -> tuple[syntax.Name, ...]:
        """``<A, B>``."""
        return tuple(_name(n) for n in parts if n is not None)

    def bases(self, span: Span, parts: Children) -> tuple[syntax.Name, ...]:
        """``extends A, B``."""
        return tuple(_name(n) for n in parts if n is not None)

    def params(self, span: Span, parts: Children) -> tuple[syntax.Param, ...]:
        """``(p = 0, q = 1)``."""
        return tuple(p for p in parts if p is not None)

    def param(self, span: Span, parts: Children) -> syntax.Param:
        """``p = 0``."""
        attributes, name, type_, default = parts
        return syntax.Param(
            _name(name), default, attributes, type_, span=span
        )

    # -- members --

    def state(self, span: Span, parts: Children) -> syntax.State:
        """``state x = 0``."""
        attributes, reset, name, type_, init = parts
        return syntax.State(
            _name(name), init, reset is not None, attributes, type_, span=span
        )

    def method(self, span: Span, parts: Children) -> syntax.Method:
        """``method f(a) {= =}``."""
        const, name, *params, type_, code = parts
        return syntax.Method(
            _name(name),
            tuple(p for p in params if p is not None),
            _code(code),
            const is not None,
            type_,
            span=span,
        )

    def method_param(self, span: Span, parts: Children) -> syntax.MethodParam:
        """Make a parameter of a method."""
        name, type_ = parts
        return syntax.MethodParam(_name(name), type_, span=span)

    def port(self, span: Span, parts: Children) -> syntax.Port:
        """``mutable input[2] x``."""
        attributes, mutable, direction, width, name, type_ = parts
        return syntax.Port(
            direction.text,
            _name(name),
            width,
            mutable is not None,
            attributes,
            type_,
            span=span,
        )

    def timer(self, span: Span, parts: Children) -> syntax.Timer:
        """``timer t(0, 1 s)``."""
        attributes, name, offset, period = parts
        return syntax.Timer(_name(name), offset, period, attributes, span=span)

    def action(self, span: Span, parts: Children) -> syntax.Action:
        """``logical action a(0, 1 s, "drop")``."""
        attributes, origin, name, (delay, spacing, policy), type_ = parts
        return syntax.Action(
            _name(name),
            origin and origin.text,
            delay,
            spacing,
            policy and _string(policy),
            attributes,
            type_,
            span=span,
        )

    def action_args(self, span: Span, parts: Children) -> Children:
        """``(0, 1 s, "drop")``."""
        return parts

    def watchdog(self, span: Span, parts: Children) -> syntax.Watchdog:
        """``watchdog w(1 s) -> a {= =}``."""
        attributes, name, timeout, effects, code = parts
        return syntax.Watchdog(
            _name(name), timeout, effects, _code(code), attributes, span=span
        )

    def instance(self, span: Span, parts: Children) -> syntax.Instance:
        """``c = new[2] C(p = 0)``."""
        attributes, name, width, class_name, generics, args, host = parts
        if args is None:
            self.refuse(
                class_name.span,
                f"the parentheses after '{class_name.text}' are missing",
                f"Write: {name.text} = new {class_name.text}()",
            )
        return syntax.Instance(
            _name(name),
            _name(class_name),
            args or (),
            width,
            generics,
            host,
            attributes,
            span=span,
        )

    def args(self, span: Span, parts: Children) -> tuple[syntax.Argument, ...]:
        """``(p = 0)``."""
        return tuple(a for a in parts if a is not None)

    def no_args(self, span: Span, parts: Children) -> None:
        """Tell that the parentheses are missing."""

    def arg(self, span: Span, parts: Children) -> syntax.Argument:
        """``p = 0``."""
        name, value = parts
        return syntax.Argument(_name(name), value, span=span)

    def positional(self, span: Span, parts: Children) -> None:
        """Refuse an argument without a name."""
        value = slips.shorten(self._text[span.start : span.end])
        self.refuse(
            span,
            "this argument does not say which parameter it is for",
            f"Write: parameter = {value}",
        )

    def connection(self, span: Span, parts: Children) -> syntax.Connection:
        """``a.x -> b.y after 1 s``."""
        attributes, (left, broadcast), arrow, right, after, serializer = parts
        return syntax.Connection(
            left,
            right,
            arrow.text == "~>",
            broadcast,
            after,
            serializer and _string(serializer),
            attributes,
            span=span,
        )

    def left(self, span: Span, parts: Children) -> tuple[Any, bool]:
        """``(a.x, b.x)+``."""
        refs = next(p for p in parts if isinstance(p, tuple))
        return refs, isinstance(parts[-1], Token)

    def refs(self, span: Span, parts: Children) -> tuple[syntax.Ref, ...]:
        """``a.x, b.y``."""
        return tuple(parts)

    def ref(self, span: Span, parts: Children) -> syntax.Ref:
        """``a.x as y``."""
        first, second, alias = parts
        if second is None:
            return syntax.Ref(_name(first), alias=_maybe_name(alias), span=span)
        return syntax.Ref(
            _name(second), _name(first), alias=_maybe_name(alias), span=span
        )

    def interleaved(self, span: Span, parts: Children) -> syntax.Ref:
        """``interleaved(a.x)``."""
        first, second = parts
        if second is None:
            return syntax.Ref(_name(first), None, interleaved=True, span=span)
        return syntax.Ref(_name(second), _name(first), interleaved=True, span=span)

    def reaction(self, span: Span, parts: Children) -> syntax.Reaction:
        """``reaction(t) x -> y {= =}``."""
        attributes, keyword, name, heard, effects, code, tardy, deadline = parts
        triggers, sources = heard
        return syntax.Reaction(
            triggers,
            sources,
            effects,
            _maybe_code(code),
            _maybe_name(name),
            keyword.text,
            tardy,
            deadline,
            attributes,
            span=span,
        )

    def triggers(self, span: Span, parts: Children) -> tuple[Any, Any]:
        """``(t, u) x``."""
        *triggers, sources = parts
        return tuple(t for t in triggers if t is not None), sources or ()

    def no_triggers(self, span: Span, parts: Children) -> tuple[None, tuple[()]]:
        """Tell that the list is missing."""
        return None, ()

    def builtin(self, span: Span, parts: Children) -> syntax.Builtin:
        """``startup``."""
        return syntax.Builtin(parts[0].text, span=span)

    def effects(self, span: Span, parts: Children) -> tuple[syntax.Effect, ...]:
        """``-> x, reset(M)``."""
        return tuple(e for e in parts if e is not None)

    def mode_change(self, span: Span, parts: Children) -> syntax.ModeChange:
        """``reset(M)``."""
        transition, mode = parts
        return syntax.ModeChange(transition.text, _name(mode), span=span)

    def tardy(self, span: Span, parts: Children) -> syntax.Tardy:
        """``tardy {= =}`` or ``STAA(1 s) {= =}``."""
        keyword, *offset, code = parts
        return syntax.Tardy(
            keyword.text, offset[0] if offset else None, _maybe_code(code), span=span
        )

    def deadline(self, span: Span, parts: Children) -> syntax.Deadline:
        """``deadline(1 s) {= =}``."""
        delay, code = parts
        return syntax.Deadline(delay, _maybe_code(code), span=span)

    def mode_head(self, span: Span, parts: Children) -> Children:
        """Keep what stands before the members."""
        return parts

    def mode(self, span: Span, parts: Children) -> syntax.Mode:
        """``initial mode M { ... }``."""
        (attributes, initial, name), *members = parts
        return syntax.Mode(
            _maybe_name(name), tuple(members), initial is not None, attributes, span=span
        )

    # -- what members are made of --

    def attributes(self, span: Span, parts: Children) -> tuple[syntax.Attribute, ...]:
        """``@a @b``."""
        return tuple(parts)

    def attribute(self, span: Span, parts: Children) -> syntax.Attribute:
        """``@a("b")``."""
        name, args = parts
        return syntax.Attribute(_name(name), args, span=span)

    def attribute_args(
        self, span: Span, parts: Children
    ) -> tuple[syntax.AttributeArg, ...]:
        """``("b", c = 1)``."""
        return tuple(a for a in parts if a is not None)

    def attribute_arg(self, span: Span, parts: Children) -> syntax.AttributeArg:
        """``c = 1``."""
        name, value = parts
        return syntax.AttributeArg(_maybe_name(name), value, span=span)

    def width(self, span: Span, parts: Children) -> syntax.Width:
        """``[2 + n]``."""
        terms: list[int | syntax.Name | syntax.Code] = []
        for part in parts:
            if isinstance(part, syntax.Name):
                terms.append(part)
            elif part is None:
                continue
            elif part.kind == "INT":
                terms.append(_whole(part.text))
            elif part.kind == "NAME":
                terms.append(_name(part))
            else:
                terms.append(_code(part))
        return syntax.Width(tuple(terms), span=span)

    def widthof(self, span: Span, parts: Children) -> syntax.Name:
        """``widthof(a.x)``, as a name that no parameter can have."""
        return syntax.Name(self._text[span.start : span.end], span=span)

    def old_init(self, span: Span, parts: Children) -> syntax.Expr | None:
        """Refuse ``x(0)`` and ``x{0}``; ``x = 0`` is what they mean."""
        values = tuple(v for v in parts if v is not None)
        inside = slips.shorten(self._text[span.start + 1 : span.end - 1].strip())
        value = inside if len(values) == 1 else f"[{inside}]"
        self.refuse(span, "values are given with '='", f"Write: = {value}")
        return values[0] if len(values) == 1 else syntax.List(values, span=span)

    def type(self, span: Span, parts: Children) -> syntax.Type:
        """``: int``."""
        text = self._text[span.start + 1 : span.end]
        start = span.end - len(text.lstrip())
        return syntax.Type(text.strip(), span=Span(start, span.end))

    def type_args(self, span: Span, parts: Children) -> tuple[syntax.Type, ...]:
        """``<int, T>``."""
        return tuple(t for t in parts if t is not None)

    def type_arg(self, span: Span, parts: Children) -> syntax.Type:
        """Make a type between angles."""
        return syntax.Type(self._text[span.start : span.end], span=span)

    def host(self, span: Span, parts: Children) -> syntax.Host:
        """``at user@host:1234``."""
        return syntax.Host(parts[0].text, span=parts[0].span)

    def nothing(self, span: Span, parts: Children) -> None:
        """Tell that an optional part is absent."""

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
        if unit not in UNITS:
            unit = slips.nearest_unit(unit) or "s"
        whole = digits.split(".")[0].lstrip("+")
        return syntax.Time(
            _whole(whole) if whole.lstrip("-").isdigit() else 0, unit, span=span
        )

    def param_ref(self, span: Span, parts: Children) -> syntax.ParamRef:
        """Make a name used as a value."""
        return syntax.ParamRef(parts[0].text, span=span)

    def code(self, span: Span, parts: Children) -> syntax.Code:
        """Make code used as a value."""
        return _code(parts[0])
