# SPDX-License-Identifier: Apache-2.0
"""Scopes: the names of a reactor class, including those of its bases.

There are two namespaces. Signatures and connections refer to ports, actions, timers,
watchdogs, modes and contained reactors; bodies access parameters, state and methods
through ``self``. A name may occur in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.link.program import ClassUnit, Part

Named: TypeAlias = (
    "syntax.Port | syntax.Action | syntax.Timer | syntax.Watchdog | syntax.Mode "
    "| syntax.Instance | syntax.State | syntax.Method | syntax.Param"
)

SymbolKind: TypeAlias = Literal[
    "input",
    "output",
    "action",
    "timer",
    "watchdog",
    "mode",
    "contained reactor",
    "state variable",
    "method",
    "parameter",
]


@dataclass(frozen=True)
class Symbol:
    """A named declaration.

    Attributes:
        owner: The class that declares it.
        mode: The mode it is declared in.
    """

    kind: SymbolKind
    name: syntax.Name
    node: Named
    owner: ClassUnit
    mode: syntax.Mode | None = None


class Scope:
    """The namespaces of a class.

    Attributes:
        declared: Names for signatures and connections. If a name is declared twice, the
            first declaration counts.
        attributes: Names that bodies access through ``self``. If a name is declared
            again in a derived class, that declaration counts.
        is_whole: Whether all names are known, so that an unknown name is an error.
    """

    def __init__(self, unit: ClassUnit) -> None:
        self.unit = unit
        self.declared: dict[str, Symbol] = {}
        self.attributes: dict[str, Symbol] = {}
        self.is_whole = unit.is_whole
        for ancestor in unit.lineage:
            for symbol in symbols_of(ancestor):
                if is_attribute(symbol):
                    self.attributes[symbol.name.text] = symbol
                else:
                    self.declared.setdefault(symbol.name.text, symbol)

    def params(self) -> list[str]:
        """Return the names of all parameters."""
        return [n for n, s in self.attributes.items() if s.kind == "parameter"]

    def param(self, name: str) -> syntax.Param | None:
        """Return a parameter."""
        symbol = self.attributes.get(name)
        return symbol.node if symbol and isinstance(symbol.node, syntax.Param) else None

    def port(self, name: str) -> syntax.Port | None:
        """Return a port."""
        symbol = self.declared.get(name)
        return symbol.node if symbol and isinstance(symbol.node, syntax.Port) else None

    def names(self, *kinds: SymbolKind) -> list[str]:
        """Return the names of all symbols of these kinds."""
        return [n for n, s in self.declared.items() if s.kind in kinds]


class Scopes:
    """The scope of every class, created on first use."""

    def __init__(self) -> None:
        self._made: dict[ClassUnit, Scope] = {}

    def of(self, unit: ClassUnit) -> Scope:
        """Return the scope of a class."""
        if unit not in self._made:
            self._made[unit] = Scope(unit)
        return self._made[unit]

    def child(self, unit: ClassUnit, name: str) -> Scope | None:
        """Return the scope of a contained reactor's class, if that is known."""
        found = unit.child_class(name)
        return self.of(found) if found is not None else None


def symbols_of(unit: ClassUnit) -> list[Symbol]:
    """Return a class's own symbols, in textual order."""
    found = [Symbol("parameter", p.name, p, unit) for p in unit.tree.params]
    for part in unit.own_parts():
        symbol = _symbol(part)
        if symbol is not None:
            found.append(symbol)
    return found


def is_attribute(symbol: Symbol) -> bool:
    """Return whether bodies access it through ``self``."""
    return symbol.kind in ("state variable", "method", "parameter")


def _symbol(part: Part) -> Symbol | None:
    node, unit, mode = part.member, part.owner, part.mode
    match node:
        case syntax.Port():
            return Symbol(node.direction, node.name, node, unit, mode)
        case syntax.Action():
            return Symbol("action", node.name, node, unit, mode)
        case syntax.Timer():
            return Symbol("timer", node.name, node, unit, mode)
        case syntax.Watchdog():
            return Symbol("watchdog", node.name, node, unit, mode)
        case syntax.Instance():
            return Symbol("contained reactor", node.name, node, unit, mode)
        case syntax.State():
            return Symbol("state variable", node.name, node, unit, mode)
        case syntax.Method():
            return Symbol("method", node.name, node, unit, mode)
        case syntax.Mode() if node.name is not None:
            return Symbol("mode", node.name, node, unit, mode)
    return None
