# SPDX-License-Identifier: Apache-2.0
"""One reactor instance while it is expanded: its children, planned and then placed."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from reactorl._decl.connection import evaluate_width
from reactorl._decl.param import resolve
from reactorl._decl.reactor import check_params, complete_params

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reactorl._decl.connection import Connect
    from reactorl._decl.mode import Mode
    from reactorl._decl.reactor import Reactor
    from reactorl._program.layout import Layout
    from reactorl._program.program import ReactorNode
    from reactorl.position import Position

Widths = tuple[int | None, ...]  # per port; None: taken from a connection


class Slot:
    """A contained reactor or bank of one instance: members with ids in a row."""

    __slots__ = (
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
    ) -> None:
        self.name = name
        self.layout = layout
        self.bank_width = bank_width  # None: not a bank
        self.params = params  # one for all members, or one each
        self.mode = mode
        self.where = where
        self.first = -1  # reactor id of member 0, once placed
        self.handles: list[object] = []  # objects through which its ports are named
        self.inferred: dict[tuple[int, int], int] = {}  # (member, port) -> width
        self.judgeable = True  # False: a width that was to be inferred was not
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
        "lacking",
        "layout",
        "mode_base",
        "node",
        "shell",
        "slots",
        "wires",
    )

    def __init__(self, node: ReactorNode, layout: Layout, mode_base: int) -> None:
        self.node = node
        self.layout = layout
        self.mode_base = mode_base
        self.slots: dict[str, Slot] = {}
        self.by_holder: dict[int, Slot] = {}  # id of a handle -> slot
        self.shell: Reactor | None = None  # the object that build() runs on
        self.wires: list[Connect] = []
        self.lacking = False  # something that is wrong is not contained

    def scope_of(self, mode: Mode | None) -> int:
        """Return the scope of what lives in ``mode`` of this instance."""
        if mode is None:
            return self.node.scope
        return self.mode_base + self.layout.decl.modes.index(mode)

    def put(self, slot: Slot, handles: Iterable[object]) -> None:
        """Add a contained reactor that can be named through ``handles``."""
        self.slots[slot.name] = slot
        for handle in handles:
            slot.handles.append(handle)  # keeps the id from being used again
            self.by_holder[id(handle)] = slot

    def as_shell(self) -> Reactor:
        """Return an object with this instance's parameters, and no more."""
        if self.shell is None:
            self.shell = parameter_shell(self.layout.cls, self.node.params)
            if (
                self.node.bank_index is not None
                and "bank_index" not in self.node.params
            ):
                self.shell.bank_index = self.node.bank_index
        return self.shell


def parameter_shell(cls: type[Reactor], params: Mapping[str, Any]) -> Reactor:
    """Return an instance of ``cls`` that has parameters and nothing else."""
    shell = cls.__new__(cls)
    shell._params = params
    shell._label = cls.__name__
    for name, value in params.items():
        setattr(shell, f"_p_{name}", value)
    return shell


def declared_widths(layout: Layout, params: Mapping[str, Any]) -> Widths:
    """Return the widths of a class's ports for these parameters; 1 for plain ports."""
    widths: list[int | None] = []
    shell: Reactor | None = None
    for port in layout.decl.ports:
        if not port.is_multi:
            widths.append(1)
        elif port.width is None:
            widths.append(None)
        else:
            if shell is None:
                shell = parameter_shell(layout.cls, params)
            widths.append(evaluate_width(port.width, shell, port.label, port.where))
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
