# SPDX-License-Identifier: Apache-2.0
"""One reactor instance while it is expanded, with its contained reactors."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from reactorl._decl.connection import evaluate_width
from reactorl._decl.param import resolve
from reactorl._decl.reactor import check_params, complete_params, prototype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reactorl._decl.connection import Connect
    from reactorl._decl.mode import Mode
    from reactorl._decl.reactor import Reactor
    from reactorl._program.layout import Layout
    from reactorl._program.program import ReactorNode
    from reactorl.position import Position

Widths = tuple[int | None, ...]  # per port; None: taken from a connection


class Instantiation:
    """A contained reactor or bank of one instance: members with ids in a row."""

    __slots__ = (
        "at",
        "bank_width",
        "first",
        "handles",
        "inferred",
        "judgeable",
        "layout",
        "mode",
        "name",
        "params",
        "where",
        "widths",
    )

    def __init__(
        self,
        name: str,
        layout: Layout,
        bank_width: int | None,
        params: list[Mapping[str, Any]],
        mode: Mode | None,
        where: Position,
        at: str | None = None,
    ) -> None:
        self.name = name
        self.at = at  # the federate that the program proposes
        self.layout = layout
        self.bank_width = bank_width  # None: not a bank
        self.params = params  # one for all members, or one each
        self.mode = mode
        self.where = where
        self.first = -1  # reactor id of member 0, once placed
        self.handles: list[object] = []  # objects through which its ports are named
        self.inferred: dict[tuple[int, int], int] = {}  # (member, port) -> width
        self.judgeable = True  # False: a width could not be inferred
        self.widths = [declared_widths(layout, values) for values in params]

    @property
    def count(self) -> int:
        """How many members it has."""
        return 1 if self.bank_width is None else self.bank_width

    def member_params(self, member: int) -> Mapping[str, Any]:
        """Return the parameters of a member."""
        return self.params[member if len(self.params) > 1 else 0]

    def width(self, member: int, port: int) -> int | None:
        """Return the width of a member's multiport; None: not known yet."""
        width = self.widths[member if len(self.widths) > 1 else 0][port]
        return self.inferred.get((member, port)) if width is None else width


class Frame:
    """The reactor instance that is being expanded."""

    __slots__ = (
        "by_holder",
        "instantiations",
        "lacking",
        "layout",
        "mode_base",
        "node",
        "prototype",
        "wires",
    )

    def __init__(self, node: ReactorNode, layout: Layout, mode_base: int) -> None:
        self.node = node
        self.layout = layout
        self.mode_base = mode_base
        self.instantiations: dict[str, Instantiation] = {}
        self.by_holder: dict[
            int, Instantiation
        ] = {}  # id of a handle -> its instantiation
        self.prototype: Reactor | None = None  # the object that build() runs on
        self.wires: list[Connect] = []
        self.lacking = False  # a child is missing because of an error

    def scope_of(self, mode: Mode | None) -> int:
        """Return the scope of elements in ``mode`` of this instance."""
        if mode is None:
            return self.node.scope
        return self.mode_base + self.layout.decl.modes.index(mode)

    def put(self, inst: Instantiation, handles: Iterable[object]) -> None:
        """Add a contained reactor that can be named through ``handles``."""
        self.instantiations[inst.name] = inst
        for handle in handles:
            inst.handles.append(handle)  # keeps the id from being used again
            self.by_holder[id(handle)] = inst

    def as_prototype(self) -> Reactor:
        """Return the object that has this instance's parameters."""
        if self.prototype is None:
            node = self.node
            self.prototype = prototype(
                node.cls, node.params, bank_index=node.bank_index
            )
        return self.prototype


def declared_widths(layout: Layout, params: Mapping[str, Any]) -> Widths:
    """Return the widths of a class's ports for these parameters; 1 for plain ports."""
    widths: list[int | None] = []
    owner: Reactor | None = None
    for port in layout.decl.ports:
        if not port.is_multi:
            widths.append(1)
        elif port.width is None:
            widths.append(None)
        else:
            if owner is None:
                owner = prototype(layout.cls, params)
            widths.append(evaluate_width(port.width, owner, port.label, port.where))
    return tuple(widths)


def members(
    cls: type[Reactor],
    given: Mapping[str, Any],
    outer: Mapping[str, Any],
    bank_width: int | None,
    each: Callable[[int], Mapping[str, Any]] | None,
    where: Position,
) -> list[Mapping[str, Any]]:
    """Return the parameters of the members: one mapping for all if they are alike.

    ``given`` may refer to parameters of the enclosing instance, ``outer``.
    """
    common = {name: resolve(value, outer) for name, value in given.items()}
    base = complete_params(cls, common, where, partial=each is not None)
    indexed = "bank_index" in base and "bank_index" not in common
    if bank_width is None:
        if indexed:
            base["bank_index"] = 0
        return [MappingProxyType(base)]
    if each is None and not indexed:
        return [MappingProxyType(base)]
    found: list[Mapping[str, Any]] = []
    for index in range(bank_width):
        values = dict(base)
        if indexed:
            values["bank_index"] = index
        if each is not None:
            different = {n: resolve(v, outer) for n, v in each(index).items()}
            check_params(cls, different, where)
            complete_params(cls, {**common, **different}, where)
            values.update(different)
        found.append(MappingProxyType(values))
    return found or [MappingProxyType(base)]
