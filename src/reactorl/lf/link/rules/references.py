# SPDX-License-Identifier: Apache-2.0
"""Resolves references in signatures and connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl.lf.diagnostics import nearest
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reactorl.lf.link.rules.context import Context
    from reactorl.lf.link.scope import Symbol, SymbolKind

Key = tuple[str, str]
"""A contained reactor, or "", and a name."""

BUILTINS = ("startup", "shutdown", "reset")


@dataclass(frozen=True)
class Meaning:
    """The declaration that a reference refers to.

    Attributes:
        symbol: The declaration.
        container: The contained reactor whose port it is; None for an own element.
    """

    symbol: Symbol
    container: Symbol | None = None

    @property
    def is_bank(self) -> bool:
        """Whether it is a port of several contained reactors."""
        node = self.container.node if self.container else None
        return isinstance(node, syntax.Instance) and node.width is not None

    @property
    def is_multiport(self) -> bool:
        """Whether it is a port with several channels."""
        node = self.symbol.node
        return isinstance(node, syntax.Port) and node.width is not None


def key_of(ref: syntax.Ref) -> Key:
    """Return the key that identifies the element of a reference."""
    return (ref.container.text if ref.container else "", ref.name.text)


def show(ref: syntax.Ref) -> str:
    """Return a reference as the author wrote it."""
    return f"{ref.container.text}.{ref.name.text}" if ref.container else ref.name.text


def follow(
    context: Context, ref: syntax.Ref, legal: Callable[[], Iterable[str]], role: str
) -> Meaning | None:
    """Return the meaning of a reference; report an unknown one and return None.

    Args:
        context: The class.
        ref: The reference.
        legal: Returns the names that are allowed here, for suggestions.
        role: Its role: "trigger", "source", "effect"...
    """
    if ref.container is not None:
        return _follow_child(context, ref, ref.container)
    name = ref.name.text
    symbol = context.scope.declared.get(name)
    if symbol is not None and symbol.kind != "contained reactor":
        return Meaning(symbol)
    if symbol is not None:
        what = f"'{name}' is a contained reactor, not {with_article(role)}"
        scope = context.child(name)
        direction: SymbolKind = (
            "input" if role in ("effect", "destination") else "output"
        )
        ports = scope.names(direction) if scope else []
        example = f", for example '{name}.{ports[0]}'" if ports else ""
        context.error(ref, what, f"Name one of its {direction}s{example}.")
    elif name in context.scope.attributes:
        kind = context.scope.attributes[name].kind
        what = f"'{name}' is a {kind}, not {with_article(role)}"
        context.error(ref, what, f"Use 'self.{name}' in the body; do not declare it.")
    elif context.scope.is_whole:
        what = f"unknown {role} '{name}'"
        context.error(ref, what, nearest(name, legal()) or _nothing(context, role))
    return None


def _nothing(context: Context, role: str) -> str:
    noun = with_article(role)
    return f"Reactor {context.unit.name} declares no element that can be {noun}."


def _follow_child(
    context: Context, ref: syntax.Ref, container: syntax.Name
) -> Meaning | None:
    symbol = context.scope.declared.get(container.text)
    if symbol is None or symbol.kind != "contained reactor":
        if context.scope.is_whole:
            what = f"reactor {context.unit.name} contains no reactor '{container.text}'"
            known = context.scope.names("contained reactor")
            advice = nearest(container.text, known)
            if symbol is not None:
                what = (
                    f"'{container.text}' is {with_article(symbol.kind)}, not a reactor"
                )
                advice = f"Write only '{container.text}'."
            context.error(container, what, advice)
        return None
    scope = context.child(container.text)
    if scope is None:
        return None  # its class is unknown, which has been reported
    port = scope.declared.get(ref.name.text)
    if port is not None and port.kind in ("input", "output"):
        return Meaning(port, symbol)
    if scope.is_whole:
        what = f"reactor {scope.unit.name} has no port '{ref.name.text}'"
        advice = nearest(ref.name.text, scope.names("input", "output"))
        if port is not None:
            kind = with_article(port.kind)
            what = (
                f"'{ref.name.text}' is {kind} of reactor {scope.unit.name}; "
                "only its ports are accessible"
            )
            advice = "Add a port to it."
        context.error(ref.name, what, advice)
    return None


def children_ports(context: Context, direction: SymbolKind) -> list[str]:
    """Return ``child.port`` for every port of contained reactors in a direction."""
    names: list[str] = []
    for child in context.scope.names("contained reactor"):
        scope = context.child(child)
        if scope is not None:
            names += [f"{child}.{port}" for port in scope.names(direction)]
    return names


def with_article(kind: str) -> str:
    """Return a noun as in "a timer", "an input"."""
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"
