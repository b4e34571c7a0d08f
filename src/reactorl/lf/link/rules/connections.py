# SPDX-License-Identifier: Apache-2.0
"""Rules for connections: which ports are allowed on each side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.link.rules.references import (
    Meaning,
    children_ports,
    follow,
    key_of,
    show,
    with_article,
)
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.rules.context import Context
    from reactorl.lf.link.rules.references import Key
    from reactorl.lf.link.scope import SymbolKind


def check(context: Context) -> None:
    """Check the connections of a class."""
    for part in context.unit.own_parts():
        if isinstance(part.member, syntax.Connection):
            _check_connection(context, part.member)


def _check_connection(context: Context, connection: syntax.Connection) -> None:
    for ref in connection.left:
        _check_side(context, ref, "input", "output")
    seen: set[Key] = set()
    for ref in connection.right:
        _check_side(context, ref, "output", "input")
        if key_of(ref) in seen:
            what = f"'{show(ref)}' is twice on the right of this connection"
            context.error(ref, what, "A port can have only one source.")
        seen.add(key_of(ref))


def _check_side(
    context: Context, ref: syntax.Ref, own: SymbolKind, of_children: SymbolKind
) -> None:
    """Check one side: own ports of one direction, contained ports of the other."""
    role = "source" if own == "input" else "destination"
    meaning = follow(
        context,
        ref,
        lambda: context.scope.names(own) + children_ports(context, of_children),
        role,
    )
    if meaning is None:
        return
    kind, shown = meaning.symbol.kind, show(ref)
    side = "left" if own == "input" else "right"
    if kind not in ("input", "output"):
        what = f"only ports can be connected, and '{shown}' is {with_article(kind)}"
        context.error(ref, what, "Use a reaction to forward the event.")
    elif meaning.container is not None and kind != of_children:
        what = f"'{shown}' is an {kind} of a contained reactor, on the {side}"
        advice = f"Write {of_children}s of contained reactors on the {side}."
        context.error(ref, what, advice)
    elif meaning.container is None and kind != own:
        what = f"'{shown}' is an {kind} of this reactor, on the {side}"
        advice = f"Write {own}s of this reactor on the {side}."
        context.error(ref, what, advice)
    else:
        _check_interleaved(context, ref, meaning)


def _check_interleaved(context: Context, ref: syntax.Ref, meaning: Meaning) -> None:
    if not ref.interleaved or (meaning.is_bank and meaning.is_multiport):
        return
    missing = "is not in a bank" if not meaning.is_bank else "is not a multiport"
    what = f"'interleaved' requires a multiport in a bank; '{show(ref)}' {missing}"
    context.error(ref, what, f"Write '{show(ref)}'.")
