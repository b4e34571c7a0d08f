# SPDX-License-Identifier: Apache-2.0
"""Names of a reactor class and what they stand for, its bases' names included.

There are two places to look a name up. Signatures and connections name ports,
actions, timers, watchdogs, modes and contained reactors; bodies reach parameters,
state and methods through ``self``. The same name may stand in both.
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
    """Something with a name.

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
    """What names mean in a class.

    Attributes:
        declared: What signatures and connections can name. Where a name is declared
            twice, the first one counts.
        attributes: What bodies reach through ``self``; a derived class's word counts
            more than that of its base.
        is_whole: Whether all names are known, so that a missing one is a mistake.
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
        """Return the names of everything of some kinds."""
        return [n for n, s in self.declared.items() if s.kind in kinds]


class Scopes:
    """The scope of every class, made when it is first asked for."""

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
    """Return everything with a name that a class declares itself, in textual order."""
    found = [Symbol("parameter", p.name, p, unit) for p in unit.tree.params]
    for part in unit.own_parts():
        symbol = _symbol(part)
        if symbol is not None:
            found.append(symbol)
    return found


def is_attribute(symbol: Symbol) -> bool:
    """Return whether bodies reach it through ``self``."""
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
