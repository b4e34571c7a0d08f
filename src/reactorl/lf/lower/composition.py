# SPDX-License-Identifier: Apache-2.0
"""Composition of a class: contained reactors with their arguments, connections."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from reactorl._decl.bank import configured
from reactorl._decl.connection import interleaved
from reactorl._program.errors import PROGRAM_ERRORS
from reactorl.errors import DelayError
from reactorl.lf.link.imports import string_value
from reactorl.lf.lower import values
from reactorl.lf.parse import syntax
from reactorl.lf.places import place_of
from reactorl.position import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl._decl.connection import PortRef
    from reactorl._decl.reactor import Reactor
    from reactorl.lf.link.program import Part
    from reactorl.lf.lower.class_info import ClassInfo
    from reactorl.lf.lower.lower import Lowering
    from reactorl.lf.runtime.self_object import Self


class Composition:
    """Adds the contained reactors and connections of a class."""

    def __init__(
        self, info: ClassInfo, lowering: Lowering, new_self: Callable[[Reactor], Self]
    ) -> None:
        self._info = info
        self._lowering = lowering
        self._new_self = new_self

    def build(self, shell: Reactor) -> None:
        """Add contained reactors and connections to an instance during ``build()``."""
        me: list[Self] = []

        def parent() -> Self:
            if not me:
                me.append(self._new_self(shell))
            return me[0]

        for kind, act in (
            (syntax.Instance, self._add),
            (syntax.Connection, self._connect),
        ):
            for part in self._info.parts:
                if not isinstance(part.member, kind):
                    continue
                mode = part.mode.name.text if part.mode and part.mode.name else None
                with (
                    at(place_of(part)),
                    shell.__dict__[mode] if mode else nullcontext(),
                ):
                    try:
                        act(shell, part, parent)
                    except PROGRAM_ERRORS as error:
                        shell._builder.note(error)

    def _add(self, shell: Reactor, part: Part, parent: Callable[[], Self]) -> None:
        member = part.member
        assert isinstance(member, syntax.Instance)
        name = member.name.text
        unit = part.owner.children[name]
        cls = self._lowering.reactor_class(unit)
        theirs = cls.__lf__.info
        given = {arg.name.text: arg.value for arg in member.args}
        source = part.owner.file.source

        def argument(param: str, index: int) -> object:
            if param not in given:
                return theirs.default(theirs.params[param])
            return values.value_of(
                given[param],
                shell._params,
                lambda code: self._info.run(code, source, parent(), index),
            )

        def arguments(index: int, *, constant: bool) -> dict[str, Any]:
            return {
                theirs.param_key(p): argument(p, index)
                for p, declared in theirs.params.items()
                if _constant(given.get(p), declared) is constant
                and (p != "bank_index" or p in given)
            }

        common = arguments(0, constant=True)
        if member.width is None:
            common |= arguments(0, constant=False)
            shell._builder.add(name, configured(cls, common))
            return
        changing = any(
            not _constant(given.get(p), declared)
            for p, declared in theirs.params.items()
        )
        bank = configured(cls, common, partial=changing)
        each = (lambda i: arguments(i, constant=False)) if changing else None
        shell._builder.add_bank(name, bank, values.width(member.width), each)

    def _connect(self, shell: Reactor, part: Part, parent: object) -> None:
        member = part.member
        assert isinstance(member, syntax.Connection)
        if any(
            r.container and r.container.text not in shell.__dict__
            for r in (*member.left, *member.right)
        ):
            return  # the error of the contained reactor has been reported
        after: Any = None
        if member.after is not None:
            after = values.duration(member.after)
            if isinstance(after, values.TimeParam):
                try:
                    after = after.evaluate(shell._params)
                except TypeError as error:
                    what = f"the delay of a connection: {error}"
                    raise DelayError(what, place_of(part)) from None
        shell._builder.connect(
            [_reference(shell, ref) for ref in member.left],
            [_reference(shell, ref) for ref in member.right],
            after,
            physical=member.is_physical,
            broadcast=member.broadcast,
            # Federates have clocks of their own.
            apart=member.is_physical and self._info.unit.tree.kind == "federated",
            serializer=_serializer(member),
        )


def _serializer(connection: syntax.Connection) -> str | None:
    """Return the module of a serializer; ``native`` and ``proto`` are pickled."""
    if connection.serializer is None:
        return None
    name = string_value(connection.serializer)
    return None if name in ("native", "proto") else name


def _constant(given: syntax.Expr | None, declared: syntax.Param) -> bool:
    expr = declared.default if given is None else given
    return expr is None or values.is_constant(expr)


def _reference(shell: Reactor, ref: syntax.Ref) -> PortRef:
    name = ref.name.text
    found: PortRef
    if ref.container is None:
        found = shell.__dict__[name]
    else:
        holder = shell.__dict__[ref.container.text]
        inner: Mapping[str, PortRef] = holder.__dict__
        found = inner[name] if name in inner else getattr(holder, name)
    return interleaved(found) if ref.interleaved else found
