# SPDX-License-Identifier: Apache-2.0
"""Running ``build()``: the object it runs on, and the effect of its calls."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Any

from reactorl._decl.bank import Bank
from reactorl._decl.connection import Connect, evaluate_width, port_refs
from reactorl._decl.reactor import Reactor, add_references, prototype
from reactorl._program.frame import Frame, Instantiation, members
from reactorl._program.placement import check_federate_name
from reactorl.errors import DeclarationError, ProgramError
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl._decl.mode import Mode
    from reactorl._decl.port import Width
    from reactorl._program.layout import Layout
    from reactorl.position import Position
    from reactorl.tag import Duration


_RESERVED = frozenset(dir(Reactor))


class BuildMode:
    """A mode as ``build()`` sees it: what is added inside ``with`` belongs to it."""

    __slots__ = ("_build", "_mode")

    def __init__(self, build: Build, mode: Mode) -> None:
        self._build = build
        self._mode = mode

    def __enter__(self) -> None:
        if self._build.mode is not None:
            msg = (
                f"`with self.{self._mode.name}` inside "
                f"`with self.{self._build.mode.name}`"
            )
            raise DeclarationError(
                msg,
                here(),
                "Modes of one reactor exclude each other.",
            )
        self._build.mode = self._mode

    def __exit__(self, *_: object) -> None:
        self._build.mode = None


class Build:
    """One run of one instance's ``build()``."""

    def __init__(
        self,
        frame: Frame,
        layout_of: Callable[[type[Reactor], Position], Layout],
        own_widths: dict[str, int],
        note: Callable[[DeclarationError | ProgramError], None],
    ) -> None:
        self.frame = frame
        self.mode: Mode | None = None
        self._layout_of = layout_of
        self._own_widths = own_widths
        self.note = note  # adds an error that does not end build()

    def run(self) -> None:
        """Call ``build()`` and add its reactors and connections to the frame.

        Raises:
            DeclarationError: ``build()`` left attributes behind, which would be lost.
        """
        reactor = self.frame.as_prototype()
        add_references(reactor)
        reactor._label = ""
        content = reactor.__dict__
        content["_widths"] = self._own_widths
        content["_builder"] = self
        for mode in self.frame.layout.decl.modes:
            content[mode.name] = BuildMode(self, mode)
        for inst in self.frame.instantiations.values():
            content[inst.name] = handle = _placed_handle(inst)
            self.frame.put(inst, [handle])
        before = set(content)
        type(reactor).build(reactor)  # an element may be named so
        stray = [
            n for n in content if n not in before and n not in self.frame.instantiations
        ]
        if stray:
            msg = (
                f"build() of {self.frame.layout.name} assigned self.{stray[0]}, which "
                "no reaction will see"
            )
            raise DeclarationError(
                msg,
                self.frame.layout.decl.where,
                "Make state in setup(), or keep it in a local variable.",
            )

    def add(self, name: str, reactor: Reactor, at: str | None = None) -> Reactor:
        """Contain ``reactor`` under ``name``."""
        where = here()
        self._claim(name, where)
        if id(reactor) in self.frame.by_holder:
            msg = f"the reactor added as {name} is contained already"
            raise DeclarationError(
                msg,
                where,
                "Make another one.",
            )
        self._put(name, reactor, None, None, where, reactor, at)
        reactor._label = name
        return reactor

    def add_bank(
        self,
        name: str,
        reactor: Reactor,
        width: Width,
        each: Callable[[int], Mapping[str, Any]] | None,
        at: str | None = None,
    ) -> Bank[Any]:
        """Contain a bank under ``name``."""
        where = here()
        self._claim(name, where)
        owner = self.frame.as_prototype()
        count = evaluate_width(width, owner, f"bank {name}", where)
        handle = Bank(reactor, count, None, where)
        handle._label = name
        self._put(name, reactor, count, each, where, handle, at)
        return handle

    def connect(
        self,
        source: object,
        target: object,
        after: Duration | None,
        *,
        physical: bool,
        broadcast: bool,
        apart: bool = False,
        serializer: str | None = None,
    ) -> None:
        """Add a connection; it is made once all ports have their widths."""
        where = here()
        self.frame.wires.append(
            Connect(
                port_refs(source, where),
                port_refs(target, where),
                after,
                physical,
                broadcast,
                self.mode,
                where,
                apart,
                serializer,
            )
        )

    def _put(
        self,
        name: str,
        reactor: Reactor,
        count: int | None,
        each: Callable[[int], Mapping[str, Any]] | None,
        where: Position,
        handle: object,
        at: str | None,
    ) -> None:
        if at is not None:
            check_federate_name(at, where)
        cls = type(reactor)
        layout = self._layout_of(cls, where)
        outer = self.frame.node.params
        values = members(cls, reactor._given, outer, count, each, where)
        inst = Instantiation(name, layout, count, values, self.mode, where, at)
        self.frame.put(inst, [handle])
        self.frame.as_prototype().__dict__[name] = handle

    def _claim(self, name: str, where: Position) -> None:
        if not name.isidentifier() or keyword.iskeyword(name):
            msg = f"the name of a reactor must be an identifier, got {name!r}"
            raise DeclarationError(
                msg,
                where,
                "For numbered reactors use add_bank().",
            )
        cls = self.frame.layout.cls
        taken = name in self.frame.instantiations or name in cls.__reactor__.elements
        if not cls.__reactor__.free_names:
            hides = name in _RESERVED or name in vars(cls)
            taken = taken or hides or name.startswith("_p_")
        if taken:
            msg = f"{cls.__name__} already has an element named {name!r}"
            raise DeclarationError(
                msg,
                where,
                "Choose another name.",
            )


def _placed_handle(inst: Instantiation) -> object:
    """Return an object through which build() refers to a child of the class body."""
    cls = inst.layout.cls
    if inst.bank_width is not None:
        bank: Bank[Any] = inst.handles[0]  # type: ignore[assignment]
        handle = Bank(bank._member, inst.bank_width, None, inst.where)
        handle._label = inst.name
        return handle
    child = prototype(cls, inst.params[0], label=inst.name)
    add_references(child)
    return child
