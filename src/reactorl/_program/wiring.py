# SPDX-License-Identifier: Apache-2.0
"""From connect() statements to connections between channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl._program import rules
from reactorl._program.errors import PROGRAM_ERRORS
from reactorl._program.program import ConnectionNode, ReactionNode
from reactorl.diagnostics import Diagnostic, Severity
from reactorl.errors import WidthError

if TYPE_CHECKING:
    from reactorl._decl.connection import Connect, PortRef
    from reactorl._decl.mode import Mode
    from reactorl._program.builder import ProgramBuilder
    from reactorl._program.errors import ErrorCollector
    from reactorl._program.frame import Frame, Instantiation
    from reactorl.errors import DeclarationError, ProgramError
    from reactorl.position import Position


class Wiring:
    """The connections of one reactor instance; illegal ones are left out."""

    def __init__(
        self, builder: ProgramBuilder, frame: Frame, errors: ErrorCollector
    ) -> None:
        self._builder = builder
        self._errors = errors
        self._frame = frame
        self._first_port = builder.first_port[frame.node.id]

    # -- before the children's ports exist ------------------------------------------

    def check_sides(self) -> None:
        """Leave out connections with unreachable ports or ports on the wrong side."""
        self._frame.wires = [w for w in self._frame.wires if self._has_its_sides(w)]

    def _has_its_sides(self, wire: Connect) -> bool:
        fine = True
        for side, refs in (("source", wire.sources), ("target", wire.targets)):
            for ref in refs:
                try:
                    own = self._instantiation(ref, wire.where) is None
                    rules.check_direction(ref, side, wire.where, own=own)
                except PROGRAM_ERRORS as error:
                    self._note(error)
                    fine = False
        return fine

    def _note(self, error: DeclarationError | ProgramError) -> None:
        self._errors.add(error, self._frame.node.id)

    def infer_widths(self) -> None:
        """Give multi-inputs without width that of the statement that drives them.

        A statement that leaves more than one width open, or whose sources do not
        divide evenly, is left out.
        """
        kept = []
        for wire in self._frame.wires:
            sizes = [self._size(ref, wire.where) for ref in wire.targets]
            unknown = [r for r, s in zip(wire.targets, sizes, strict=True) if s is None]
            try:
                if unknown:
                    self._infer_from(wire, unknown, sum(size or 0 for size in sizes))
                kept.append(wire)
            except PROGRAM_ERRORS as error:
                self._note(error)
                for ref in unknown:
                    inst = self._instantiation(ref, wire.where)
                    if inst is not None:
                        inst.judgeable = False
        self._frame.wires = kept

    def _infer_from(self, wire: Connect, unknown: list[PortRef], known: int) -> None:
        ref = unknown[0]
        if len(unknown) > 1:
            msg = f"{ref} and {unknown[1]} both take their width from one statement"
            raise WidthError(
                msg,
                wire.where,
                "Give one of them a width.",
            )
        if ref.channel is not None:
            msg = f"the width of {ref} is unknown"
            raise WidthError(msg, wire.where, "Declare the width.")
        left = sum(self._size(r, wire.where) or 0 for r in wire.sources)
        self._infer(wire, ref, left, known)

    def _infer(self, wire: Connect, ref: PortRef, left: int, known: int) -> None:
        inst = self._instantiation(ref, wire.where)
        assert inst is not None  # own widths are always known
        port = inst.layout.port_index[ref.port.name]
        chosen = range(inst.count) if ref.member is None else [ref.member]
        width = left if wire.broadcast else left - known
        if not wire.broadcast and len(chosen) > 0:
            width, rest = divmod(width, len(chosen))
            if rest or width < 0:
                msg = (
                    f"{left} source channels do not divide among the {len(chosen)} "
                    f"members of {ref}"
                )
                raise WidthError(
                    msg,
                    wire.where,
                    "Declare the width.",
                )
        for member in chosen:
            inst.inferred[member, port] = max(width, 0)

    def _instantiation(self, ref: PortRef, where: Position) -> Instantiation | None:
        """Return the child that ``ref`` is a port of; None: this reactor itself."""
        if ref.holder is self._frame.prototype:
            return None
        inst = self._frame.by_holder.get(id(ref.holder))
        if inst is None:
            raise rules.out_of_reach(ref, self._frame.node.path, where)
        if ref.member is not None and ref.member >= inst.count:
            msg = f"{ref}: there are {inst.count} members"
            raise WidthError(msg, where)
        return inst

    def _size(self, ref: PortRef, where: Position) -> int | None:
        inst = self._instantiation(ref, where)
        if inst is None:
            return len(self._channels(ref, where))
        port = inst.layout.port_index[ref.port.name]
        chosen = range(inst.count) if ref.member is None else [ref.member]
        total = 0
        for member in chosen:
            width = inst.width(member, port)
            if width is None:
                return None
            total += 1 if ref.channel is not None else width
        return total

    # -- after ----------------------------------------------------------------------

    def connect(self, writers: dict[int, list[ReactionNode]]) -> None:
        """Append connections, and forwarding reactions where modes need them.

        A connection to a channel that has a driver already is left out.

        Args:
            writers: Port id to this reactor's reactions that may set it.
        """
        expanded = []
        for wire in self._frame.wires:
            try:
                expanded.append((wire, self._pairs(wire)))
            except PROGRAM_ERRORS as error:
                self._note(error)
        driver: dict[int, Connect] = {}
        shared: dict[int, list[Connect]] = {}  # driven in several modes: further ones
        fine = []
        for wire, pairs in expanded:
            try:
                for _, target in pairs:
                    self._drive(wire, target, driver, shared, writers)
                fine.append((wire, pairs))
            except PROGRAM_ERRORS as error:
                self._note(error)
        for wire, pairs in fine:
            try:
                self._append(wire, pairs, shared)
            except PROGRAM_ERRORS as error:
                self._note(error)

    def _drive(
        self,
        wire: Connect,
        target: int,
        driver: dict[int, Connect],
        shared: dict[int, list[Connect]],
        writers: dict[int, list[ReactionNode]],
    ) -> None:
        """Record that a connection drives a channel.

        Raises:
            WiringError: It has a driver already.
        """
        if self._check_writers(target, wire, writers):
            shared.setdefault(target, [])
        first = driver.get(target)
        if first is None:
            driver[target] = wire
            return
        others = shared.setdefault(target, [])
        for other in (first, *others):
            if not _exclusive(other.mode, wire.mode):
                raise rules.twice_driven(
                    self._name(target), "a connection", other.where, wire.where
                )
        others.append(wire)

    def _check_writers(
        self, target: int, wire: Connect, writers: dict[int, list[ReactionNode]]
    ) -> bool:
        """Return whether reactions, of other modes, also drive ``target``."""
        found = writers.get(self._builder.channel_port[target])
        if found is None:
            return False
        scope = self._frame.scope_of(wire.mode)
        outside = self._frame.node.scope
        for reaction in found:
            if outside in (reaction.scope, scope) or reaction.scope == scope:
                name = f"reaction {self._frame.node.path}.{reaction.name}"
                raise rules.twice_driven(
                    self._name(target), name, reaction.where, wire.where
                )
        return True

    def _append(
        self,
        wire: Connect,
        pairs: list[tuple[int, int]],
        shared: dict[int, list[Connect]],
    ) -> None:
        builder, node = self._builder, self._frame.node
        scope = self._frame.scope_of(wire.mode)
        what = f"the delay of a connection in {node.path}"
        delay = (
            None
            if wire.after is None
            else rules.duration(wire.after, node.params, what, wire.where)
        )
        staged = delay is not None or wire.physical
        crossing = wire.mode is not None and not staged and self._crosses(wire)
        stages: dict[tuple[int, int], int] = {}
        for source, target in pairs:
            if target in shared:
                rules.check_simple(wire, self._name(target))
            if crossing or target in shared:
                self._forward(source, target, scope, wire.where)
                continue
            stage = None
            if staged:
                port = builder.ports[builder.channel_port[target]]
                key = source, port.reactor if wire.apart else -1
                stage = stages.setdefault(key, builder.stages)
                builder.stages += stage == builder.stages
            builder.connections.append(
                ConnectionNode(
                    len(builder.connections),
                    source,
                    target,
                    delay,
                    wire.physical,
                    stage,
                    scope,
                    wire.where,
                    wire.serializer,
                )
            )

    def _crosses(self, wire: Connect) -> bool:
        """Whether a connection in a mode has both ends outside of that mode.

        Its ends stay active when the mode is left, so the connection itself must be
        switched off.
        """

        def inside(ref: PortRef) -> bool:
            inst = self._instantiation(ref, wire.where)
            return inst is not None and inst.mode is wire.mode

        return not (all(map(inside, wire.sources)) or all(map(inside, wire.targets)))

    def _forward(self, source: int, target: int, scope: int, where: Position) -> None:
        builder, node = self._builder, self._frame.node
        last = builder.reactions[-1] if builder.reactions else None
        index = last.index + 1 if last is not None and last.reactor == node.id else 0
        builder.reactions.append(
            ReactionNode(
                id=len(builder.reactions),
                reactor=node.id,
                name=f"_forward[{index}]",
                index=index,
                kind="forward",
                on_startup=False,
                on_shutdown=False,
                on_reset=False,
                trigger_ports=(builder.channel_port[source],),
                trigger_actions=(),
                trigger_timers=(),
                source_ports=(),
                effect_ports=(builder.channel_port[target],),
                effect_actions=(),
                effect_modes=(),
                effect_watchdogs=(),
                deadline=None,
                body=None,
                handler=None,
                forward=(source, target),
                reset_states=(),
                scope=scope,
                where=where,
            )
        )

    def _pairs(self, wire: Connect) -> list[tuple[int, int]]:
        left = [c for ref in wire.sources for c in self._channels(ref, wire.where)]
        right = [c for ref in wire.targets for c in self._channels(ref, wire.where)]
        if wire.broadcast and left:
            if len(right) % len(left):
                self._warn(wire, len(left), len(right), "the last repetition is cut")
            times = -(-len(right) // len(left))
            left = (left * times)[: len(right)]
        elif len(left) != len(right):
            rest = (
                "sources are dropped" if len(left) > len(right) else "targets stay open"
            )
            self._warn(wire, len(left), len(right), f"surplus {rest}")
        return list(zip(left, right, strict=False))

    def _warn(self, wire: Connect, left: int, right: int, effect: str) -> None:
        what = (
            f"{_listed(wire.sources)} has {left} channels and "
            f"{_listed(wire.targets)} has {right}: {effect}"
        )
        self._builder.warnings.setdefault(
            Diagnostic(what, wire.where, severity=Severity.WARNING)
        )

    def _channels(self, ref: PortRef, where: Position) -> list[int]:
        """Return the channels of ``ref``, in the order in which they are joined."""
        builder = self._builder
        inst = self._instantiation(ref, where)
        if inst is None:
            index = self._frame.layout.port_index[ref.port.name]
            nodes = [builder.ports[self._first_port + index]]
        else:
            index = inst.layout.port_index[ref.port.name]
            chosen = range(inst.count) if ref.member is None else [ref.member]
            first = builder.first_port
            nodes = [builder.ports[first[inst.first + m] + index] for m in chosen]
        if ref.channel is not None:
            for node in nodes:
                if ref.channel >= len(node.channels):
                    msg = f"{ref}: the port has {len(node.channels)} channels"
                    raise WidthError(msg, where)
            return [node.first + ref.channel for node in nodes]
        if ref.interleave:
            widest = max((len(node.channels) for node in nodes), default=0)
            return [
                node.first + channel
                for channel in range(widest)
                for node in nodes
                if channel < len(node.channels)
            ]
        return [channel for node in nodes for channel in node.channels]

    def _name(self, channel: int) -> str:
        port = self._builder.ports[self._builder.channel_port[channel]]
        name = f"{self._builder.reactors[port.reactor].path}.{port.name}"
        return name if port.width is None else f"{name}[{channel - port.first}]"


def _exclusive(one: Mode | None, other: Mode | None) -> bool:
    return one is not None and other is not None and one is not other


def _listed(refs: tuple[PortRef, ...]) -> str:
    return ", ".join(str(ref) for ref in refs)
