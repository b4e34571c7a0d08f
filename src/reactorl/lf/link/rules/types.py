# SPDX-License-Identifier: Apache-2.0
"""Rule for types: the Python target has no type annotations or parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context


def check(context: Context) -> None:
    """Report all types."""
    reactor = context.unit.tree
    if reactor.generics:
        what = "the Python target has no type parameters"
        context.error(reactor.generics[0], what, "Remove them.")
    for param in reactor.params:
        _report(context, param.type)
    for part in context.unit.own_parts():
        member = part.member
        match member:
            case syntax.State() | syntax.Port() | syntax.Action():
                _report(context, member.type)
            case syntax.Method():
                for argument in member.params:
                    _report(context, argument.type)
                _report(context, member.type)
            case syntax.Instance() if member.generics:
                what = "the Python target has no type parameters"
                context.error(member.generics[0], what, "Remove them.")


def _report(context: Context, annotation: syntax.Type | None) -> None:
    if annotation is not None:
        what = "the Python target has no types"
        context.error(annotation, what, f"Remove ': {annotation.text}'.")
