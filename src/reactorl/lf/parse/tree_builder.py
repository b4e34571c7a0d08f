# SPDX-License-Identifier: Apache-2.0
"""Builds the syntax tree: one method per rule of ``grammar.lark``.

A method receives the span of its rule and the values of the rule's symbols. Forms that
the grammar accepts but the tree cannot represent are rejected here.
"""

from __future__ import annotations

from typing import Any

from reactorl.lf.parse import messages, syntax
from reactorl.lf.parse.lexer import Token
from reactorl.lf.parse.value_builder import (
    Children,
    ValueBuilder,
    code_of,
    name_of,
    string_of,
)
from reactorl.lf.source import Span


class TreeBuilder(ValueBuilder):
    """Builds all nodes of a file."""

    # -- a file --

    def start(self, span: Span, parts: Children) -> syntax.File:
        """Make a file; report parts that are in the wrong order."""
        kinds: list[type] = [
            syntax.Target,
            syntax.Import,
            syntax.Preamble,
            syntax.Reactor,
        ]
        words = ["the target declaration", "imports", "preambles", "reactors"]
        sorted_: list[list[Any]] = [[], [], [], []]
        latest = 0
        for part in parts:
            kind = kinds.index(type(part))
            if kind < latest:
                self.reject(
                    self._head(part.span),
                    f"{words[kind]} must come before {words[latest]}",
                    "A file consists of the target, imports, preambles and reactors, "
                    "in this order.",
                )
            elif kind == 0 and sorted_[0]:
                self.reject(
                    self._head(part.span),
                    "a file must have only one target declaration",
                    "",
                )
            latest = max(kind, latest)
            sorted_[kind].append(part)
        targets, imports, preambles, reactors = sorted_
        return syntax.File(
            target=targets[0] if targets else None,
            imports=tuple(imports),
            preambles=tuple(preambles),
            reactors=tuple(reactors),
            span=Span(0, len(self.text)),
        )

    def _head(self, span: Span) -> Span:
        """Return the span of the first word."""
        end = span.start
        while end < span.end and self.text[end].isalpha():
            end += 1
        return Span(span.start, max(end, span.start + 1))

    def target(self, span: Span, parts: Children) -> syntax.Target:
        """``target Python {...}``."""
        name, properties = parts
        return syntax.Target(name_of(name), properties, span=span)

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
        return syntax.Import(tuple(names), string_of(origin), span=span)

    def imported(self, span: Span, parts: Children) -> syntax.ImportedName:
        """``A as B``."""
        name, alias = parts
        return syntax.ImportedName(name_of(name), alias and name_of(alias), span=span)

    def preamble(self, span: Span, parts: Children) -> syntax.Preamble:
        """``preamble {= =}``."""
        visibility, code = parts
        return syntax.Preamble(code_of(code), visibility and visibility.text, span=span)

    # -- a reactor --

    def reactor_head(self, span: Span, parts: Children) -> Children:
        """Return the parts before the members."""
        return parts

    def reactor(self, span: Span, parts: Children) -> syntax.Reactor:
        """``main reactor R(p = 0) extends B { ... }``."""
        head, *members = parts
        attributes, modifiers, name, generics, params, host, bases = head
        words = [m.text for m in modifiers]
        kinds = [word for word in words if word != "realtime"]
        for n, token in enumerate(modifiers):
            before = words[:n]
            if token.text in before or (token.text in kinds and kinds[0] in before):
                self.reject(token.span, f"unexpected modifier '{token.text}'", "")
                break
        return syntax.Reactor(
            name and name_of(name),
            tuple(members),
            kind=kinds[0] if kinds else "",
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
        return tuple(name_of(n) for n in parts if n is not None)

    def bases(self, span: Span, parts: Children) -> tuple[syntax.Name, ...]:
        """``extends A, B``."""
        return tuple(name_of(n) for n in parts if n is not None)

    def params(self, span: Span, parts: Children) -> tuple[syntax.Param, ...]:
        """``(p = 0, q = 1)``."""
        return tuple(p for p in parts if p is not None)

    def param(self, span: Span, parts: Children) -> syntax.Param:
        """``p = 0``."""
        attributes, name, type_, default = parts
        return syntax.Param(name_of(name), default, attributes, type_, span=span)

    # -- members --

    def state(self, span: Span, parts: Children) -> syntax.State:
        """``state x = 0``."""
        attributes, reset, name, type_, init = parts
        return syntax.State(
            name_of(name), init, reset is not None, attributes, type_, span=span
        )

    def method(self, span: Span, parts: Children) -> syntax.Method:
        """``method f(a) {= =}``."""
        const, name, *params, type_, code = parts
        return syntax.Method(
            name_of(name),
            tuple(p for p in params if p is not None),
            code_of(code),
            const is not None,
            type_,
            span=span,
        )

    def method_param(self, span: Span, parts: Children) -> syntax.MethodParam:
        """Make a parameter of a method."""
        name, type_ = parts
        return syntax.MethodParam(name_of(name), type_, span=span)

    def port(self, span: Span, parts: Children) -> syntax.Port:
        """``mutable input[2] x``."""
        attributes, mutable, direction, width, name, type_ = parts
        return syntax.Port(
            direction.text,
            name_of(name),
            width,
            mutable is not None,
            attributes,
            type_,
            span=span,
        )

    def timer(self, span: Span, parts: Children) -> syntax.Timer:
        """``timer t(0, 1 s)``."""
        attributes, name, offset, period = parts
        return syntax.Timer(name_of(name), offset, period, attributes, span=span)

    def action(self, span: Span, parts: Children) -> syntax.Action:
        """``logical action a(0, 1 s, "drop")``."""
        attributes, origin, name, (delay, spacing, policy), type_ = parts
        return syntax.Action(
            name_of(name),
            origin and origin.text,
            delay,
            spacing,
            policy and string_of(policy),
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
            name_of(name), timeout, effects, code_of(code), attributes, span=span
        )

    def instance(self, span: Span, parts: Children) -> syntax.Instance:
        """``c = new[2] C(p = 0)``."""
        attributes, name, width, class_name, generics, args, host = parts
        if args is None:
            self.reject(
                class_name.span,
                f"missing parentheses after '{class_name.text}'",
                f"Write: {name.text} = new {class_name.text}()",
            )
        return syntax.Instance(
            name_of(name),
            name_of(class_name),
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
        """Return None for missing parentheses."""

    def arg(self, span: Span, parts: Children) -> syntax.Argument:
        """``p = 0``."""
        name, value = parts
        return syntax.Argument(name_of(name), value, span=span)

    def positional(self, span: Span, parts: Children) -> None:
        """Reject an argument without a name."""
        value = messages.shorten(self.text[span.start : span.end])
        self.reject(
            span,
            "an argument must have the form 'parameter = value'",
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
            serializer and string_of(serializer),
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
            return syntax.Ref(name_of(first), alias=alias and name_of(alias), span=span)
        return syntax.Ref(
            name_of(second), name_of(first), alias=alias and name_of(alias), span=span
        )

    def interleaved(self, span: Span, parts: Children) -> syntax.Ref:
        """``interleaved(a.x)``."""
        first, second = parts
        if second is None:
            return syntax.Ref(name_of(first), None, interleaved=True, span=span)
        return syntax.Ref(name_of(second), name_of(first), interleaved=True, span=span)

    def reaction(self, span: Span, parts: Children) -> syntax.Reaction:
        """``reaction(t) x -> y {= =}``."""
        attributes, keyword, name, (triggers, sources), *rest = parts
        effects, code, tardy, deadline = rest
        return syntax.Reaction(
            triggers,
            sources,
            effects,
            code and code_of(code),
            name and name_of(name),
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
        """Return None for a missing list."""
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
        return syntax.ModeChange(transition.text, name_of(mode), span=span)

    def tardy(self, span: Span, parts: Children) -> syntax.Tardy:
        """``tardy {= =}`` or ``STAA(1 s) {= =}``."""
        keyword, *offset, code = parts
        return syntax.Tardy(
            keyword.text,
            offset[0] if offset else None,
            code and code_of(code),
            span=span,
        )

    def deadline(self, span: Span, parts: Children) -> syntax.Deadline:
        """``deadline(1 s) {= =}``."""
        delay, code = parts
        return syntax.Deadline(delay, code and code_of(code), span=span)

    def mode_head(self, span: Span, parts: Children) -> Children:
        """Return the parts before the members."""
        return parts

    def mode(self, span: Span, parts: Children) -> syntax.Mode:
        """``initial mode M { ... }``."""
        (attributes, initial, name), *members = parts
        return syntax.Mode(
            name and name_of(name),
            tuple(members),
            initial is not None,
            attributes,
            span=span,
        )
