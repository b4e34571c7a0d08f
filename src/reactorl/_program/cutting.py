# SPDX-License-Identifier: Apache-2.0
"""Cutting a Program: where its units are set and needed, and what forbids it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from reactorl._program.program import NO_SCOPE
from reactorl._program.stops import may_stop
from reactorl.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl._program.errors import ErrorCollector
    from reactorl._program.placement import Placed
    from reactorl._program.program import ActionNode, ConnectionNode, PortNode, Program

CrossingUnit: TypeAlias = "tuple[int, tuple[int, ...], tuple[int, ...]]"
"""A unit that crosses, the reactions that set it, and those that read it there."""


@dataclass(slots=True)
class Stage:
    """A delay stage, or a physical connection."""

    number: int
    source: int  # unit
    target: int  # unit
    delay: int
    physical: bool
    scope: int
    connection: ConnectionNode  # one of them
    home: int = 0
    owners: set[int] = field(default_factory=set)
    arrives: set[int] = field(default_factory=set)

    def crosses(self, source: int, target: int) -> bool:
        """Whether the federate ``source`` sends its events to ``target``."""
        there = target in self.arrives and target not in self.owners
        return source == self.home and there


class Cutting:
    """The tables from which a cut is made.

    Attributes:
        placed: The placement.
        copies: Reactor -> the federates that run it.
        stages: All stages, by number.
    """

    def __init__(self, program: Program, placed: Placed) -> None:
        self.placed = placed
        self._program = program
        self.copies = [{federate} for federate in placed.where]
        self.stages: list[Stage] = []
        self._unit_of_root: dict[int, int] = {}
        self._fed_by: dict[int, Stage] = {}  # unit -> stage
        self._staged: dict[int, list[Stage]] = {}  # unit -> stages that delay it
        self._has_serializers = any(
            one.serializer is not None for one in program.connections
        )
        self._find_stages()
        self._shown = {  # units of outputs of the main reactor
            self.unit(channel)
            for port in program.ports
            if port.reactor == 0 and not port.is_input
            for channel in port.channels
        }
        self._writers: dict[int, list[int]] = {}  # unit -> reactions
        self._readers: dict[int, list[int]] = {}
        self._find_reactions()
        self._spread_replicas()
        for stage in self.stages:
            stage.home, owners = self._owner(stage, set())
            stage.owners = set(owners)
        self._move_stages()
        for stage in self.stages:
            stage.arrives = self._needed_at(stage.target) or {stage.home}

    # -- tables ---------------------------------------------------------------------

    def unit(self, channel: int) -> int:
        """Return the unit of a channel, as one of its channels."""
        root = self._program.roots[channel]
        return self._unit_of_root.get(root, root)

    def _find_stages(self) -> None:
        targets: dict[int, list[int]] = {}
        first: dict[int, ConnectionNode] = {}
        for connection in self._program.connections:
            if connection.stage is not None:
                first.setdefault(connection.stage, connection)
                targets.setdefault(connection.stage, []).append(connection.target)
        for number in sorted(first):
            unit = min(targets[number])
            for channel in targets[number]:
                self._unit_of_root[channel] = unit
        for number, one in sorted(first.items()):
            stage = Stage(
                number=number,
                source=self.unit(one.source),
                target=self.unit(one.target),
                delay=one.delay or 0,
                physical=one.physical,
                scope=one.scope,
                connection=one,
            )
            self.stages.append(stage)
            self._fed_by[stage.target] = stage
            self._staged.setdefault(stage.source, []).append(stage)

    def _find_reactions(self) -> None:
        program = self._program
        for reaction in program.reactions:
            for port in reaction.effect_ports:
                for channel in program.ports[port].channels:
                    _add(self._writers, self.unit(channel), reaction.id)
            for port in (*reaction.trigger_ports, *reaction.source_ports):
                for channel in program.ports[port].channels:
                    _add(self._readers, self.unit(channel), reaction.id)

    def _spread_replicas(self) -> None:
        """Let replicas run wherever what they send is read."""
        program = self._program
        top = [-1] * len(program.reactors)  # reactor -> the replica that contains it
        for node in program.reactors:
            inherited = -1 if node.parent < 0 else top[node.parent]
            top[node.id] = node.id if node.id in self.placed.replicas else inherited
        parts: dict[int, list[int]] = {}
        for reactor, replica in enumerate(top):
            if replica >= 0:
                parts.setdefault(replica, []).append(reactor)
        grew = True
        while grew:
            grew = False
            for unit, writers in self._writers.items():
                replica = top[program.reactions[writers[0]].reactor]
                if replica < 0:
                    continue
                wanted = set().union(*map(self._read_at, self._downstream(unit)))
                if not wanted <= self.copies[replica]:
                    grew = True
                    for reactor in parts[replica]:
                        self.copies[reactor] |= wanted

    def _move_stages(self) -> None:
        """Let what a federate reads at once, and once more later, be sent to it once.

        The receiver delays it by itself.
        """
        if self._has_serializers:
            return
        for stage in self.stages:
            ends = stage.target not in self._staged and stage.source in self._writers
            if not ends or stage.physical or stage.scope != NO_SCOPE:
                continue
            reads = self._read_at(stage.target)
            if len(reads) == 1 and reads <= self._read_at(stage.source):
                stage.home, stage.owners = min(reads), reads

    def _downstream(self, unit: int) -> list[int]:
        """Return a unit and all that stages make of it."""
        found = [unit]
        for each in found:  # grows while it is read
            for stage in self._staged.get(each, ()):
                if stage.scope == NO_SCOPE and stage.target not in found:
                    found.append(stage.target)
        return found

    def _read_at(self, unit: int) -> set[int]:
        """Return the federates that read a unit at the tag at which it is set."""
        reactions = self._program.reactions
        readers = self._readers.get(unit, ())
        shown = {self.placed.where[0]} if unit in self._shown else set()
        return shown.union(*(self.copies[reactions[r].reactor] for r in readers))

    def _needed_at(self, unit: int) -> set[int]:
        """Return the federates that need a unit, for reactions or for stages."""
        stages = self._staged.get(unit, ())
        return self._read_at(unit).union(*(stage.owners for stage in stages))

    def _origin(self, unit: int, seen: set[int]) -> tuple[int, set[int]]:
        """Return the federate that sends a unit, and those in which it is set."""
        writers = self._writers.get(unit)
        if writers:
            reactor = self._program.reactions[writers[0]].reactor
        elif unit in self._fed_by and unit not in seen:
            return self._owner(self._fed_by[unit], seen | {unit})
        else:  # nothing ever sets it, or the driver of a main reactor with inputs
            reactor = self._program.ports[self._program.channel_port[unit]].reactor
        return self.placed.where[reactor], self.copies[reactor]

    def _owner(self, stage: Stage, seen: set[int]) -> tuple[int, set[int]]:
        """Return the federates that find the tags of a stage's events.

        Whether a stage in a mode is active is known where the modal reactor is.
        """
        if stage.scope == NO_SCOPE:
            return self._origin(stage.source, seen)
        modal = self._program.modes[stage.scope].reactor
        return self.placed.where[modal], self.copies[modal]

    # -- results --------------------------------------------------------------------

    def crossings(self) -> dict[tuple[int, int], list[CrossingUnit]]:
        """Return units that cross, with writers and readers, by source and target."""
        reactions = self._program.reactions
        found: dict[tuple[int, int], list[CrossingUnit]] = {}
        for unit, writers in self._writers.items():
            home, at = self._origin(unit, set())
            readers: dict[int, list[int]] = {}
            for r in self._readers.get(unit, ()):
                for federate in self.copies[reactions[r].reactor]:
                    readers.setdefault(federate, []).append(r)
            for target in sorted(self._needed_at(unit) - at - {home}):
                crossing = (unit, tuple(writers), tuple(readers.get(target, ())))
                found.setdefault((home, target), []).append(crossing)
        return found

    def crossing_stages(self) -> dict[tuple[int, int], list[Stage]]:
        """Return the stages whose events cross, by source and target."""
        found: dict[tuple[int, int], list[Stage]] = {}
        for stage in self.stages:
            for target in sorted(stage.arrives - stage.owners):
                found.setdefault((stage.home, target), []).append(stage)
        return found

    def serializers(self, source: int, target: int) -> dict[tuple[str, int], str]:
        """Return the serializers of what crosses between two federates."""
        found: dict[tuple[str, int], str] = {}
        if not self._has_serializers:
            return found
        for what, one, reader in self._serialized():
            if one.serializer is None or reader != target:
                continue
            kind, number = what
            if kind == "slot":
                home, at = self._origin(number, set())
                crosses = home == source and target not in at
            else:
                crosses = self.stages[number].crosses(source, target)
            if crosses:
                found[what] = one.serializer
        return found

    def _serialized(self) -> Iterator[tuple[tuple[str, int], ConnectionNode, int]]:
        """Yield what each connection carries, and the federate of its target."""
        program = self._program
        for one in program.connections:
            target = self._reactor_of(one.target)
            what = ("slot", self.unit(one.source))
            if one.stage is not None:
                what = ("stage", one.stage)
            yield what, one, self.placed.where[target]

    def is_flat(self) -> bool:
        """Whether everything before the final tag is at microstep 0."""
        program = self._program
        spaced = all(
            action.min_delay > 0
            and bool(action.min_spacing)
            and action.policy in ("defer", "drop")
            for action in program.actions
        )
        delayed = all(stage.delay > 0 for stage in self.stages)
        tame = not program.modes and not any(self.physical())
        return tame and spaced and delayed and not any(self.stops())

    def physical(self) -> tuple[bool, ...]:
        """Return for each federate whether the physical world may send it events."""
        program, where = self._program, self.placed.where
        found = {where[a.reactor] for a in program.actions if a.physical}
        found |= {where[dog.reactor] for dog in program.watchdogs}
        found = found.union(*(s.arrives for s in self.stages if s.physical))
        return tuple(federate in found for federate in range(len(self.placed.names)))

    def stops(self) -> tuple[bool, ...]:
        """Return for each federate whether one of its reactions may end the program."""
        program, where = self._program, self.placed.where
        found = {
            where[r.reactor]
            for r in program.reactions
            if may_stop(r, program.reactors[r.reactor].cls)
        }
        return tuple(federate in found for federate in range(len(self.placed.names)))

    # -- rules ----------------------------------------------------------------------

    def check(self, errors: ErrorCollector) -> None:
        """Add an error for everything that cannot be cut where the placement cuts."""
        self._check_modes(errors)
        self._check_stages(errors)
        self._check_inputs(errors)
        self._check_replicas(errors)
        self._check_serializers(errors)
        self._check_dtypes(errors)

    def _at(self, reactor: int) -> str:
        return repr(self.placed.names[self.placed.where[reactor]])

    def _check_dtypes(self, errors: ErrorCollector) -> None:
        program = self._program
        nodes: tuple[PortNode | ActionNode, ...] = (*program.ports, *program.actions)
        for node in nodes:
            if node.dtype is None:
                continue
            path = program.reactors[node.reactor].path
            msg = f"{path}.{node.name} has the dtype {node.dtype}, which federates lack"
            remedy = "Run the program in one process, or remove the dtype."
            errors.add(ProgramError(msg, node.where, remedy), node.reactor)

    def _check_modes(self, errors: ErrorCollector) -> None:
        program = self._program
        for node in program.reactors:
            if node.scope == NO_SCOPE:
                continue
            mode = program.modes[node.scope]
            if self.copies[node.id] == self.copies[mode.reactor]:
                continue
            modal = program.reactors[mode.reactor].path
            msg = (
                f"{node.path} lives in the mode {mode.name} of {modal} and is placed "
                f"on {self._at(node.id)}, but {modal} on {self._at(mode.reactor)}"
            )
            remedy = f"Place {modal} instead; all that its modes contain goes with it."
            errors.add(ProgramError(msg, node.where, remedy), node.id)

    def _check_stages(self, errors: ErrorCollector) -> None:
        program = self._program
        for stage in self.stages:
            one = stage.connection
            name = f"{program.channel_name(one.source)} to "
            name += program.channel_name(one.target)
            if stage.scope != NO_SCOPE and not stage.arrives <= stage.owners:
                mode = program.modes[stage.scope]
                modal = program.reactors[mode.reactor].path
                msg = (
                    f"the delayed connection from {name} exists in the mode "
                    f"{mode.name} of {modal} and ends on another federate than {modal}"
                )
                remedy = (
                    f"Place its target where {modal} is, or connect outside of modes."
                )
                errors.add(ProgramError(msg, one.where, remedy))
            elif stage.physical and len(stage.arrives) > 1:
                names = ", ".join(
                    repr(self.placed.names[f]) for f in sorted(stage.arrives)
                )
                msg = (
                    f"the physical connection from {name} ends on several federates: "
                    f"{names}"
                )
                remedy = (
                    "Each federate has a clock of its own: write a connection for each."
                )
                errors.add(ProgramError(msg, one.where, remedy))

    def _check_serializers(self, errors: ErrorCollector) -> None:
        """Check that a value, which is sent once per federate, has one serializer."""
        if all(one.serializer is None for one in self._program.connections):
            return
        first: dict[tuple[tuple[str, int], int], ConnectionNode] = {}
        for what, one, target in self._serialized():
            reactor = self._reactor_of(one.source)
            if target in self.copies[reactor]:
                continue
            known = first.setdefault((what, target), one)
            if known.serializer != one.serializer:
                name = self._program.channel_name(one.source)
                msg = (
                    f"{name} is connected to {self.placed.names[target]!r} with the "
                    f"serializers {known.serializer or 'native'!r} ({known.where}) and "
                    f"{one.serializer or 'native'!r}"
                )
                remedy = "Use one serializer for all connections to a federate."
                errors.add(ProgramError(msg, one.where, remedy))

    def _reactor_of(self, channel: int) -> int:
        return self._program.ports[self._program.channel_port[channel]].reactor

    def _check_inputs(self, errors: ErrorCollector) -> None:
        program = self._program
        for port in program.ports:
            if port.reactor != 0 or not port.is_input:
                continue
            units = {self.unit(channel) for channel in port.channels}
            needed = set().union(*map(self._needed_at, units))
            if needed <= {self.placed.where[0]}:
                continue
            msg = (
                f"the input {port.name!r} of the main reactor is read on another "
                f"federate than {self._at(0)}, where it is set"
            )
            remedy = "Let a reaction of the main reactor pass its value on."
            errors.add(ProgramError(msg, port.where, remedy))

    def _check_replicas(self, errors: ErrorCollector) -> None:
        program = self._program
        stopping = {
            r.reactor
            for r in program.reactions
            if may_stop(r, program.reactors[r.reactor].cls)
        }
        physical = {a.reactor for a in program.actions if a.physical}
        physical |= {dog.reactor for dog in program.watchdogs}
        inside = [False] * len(program.reactors)
        for node in program.reactors:
            inherited = node.parent >= 0 and inside[node.parent]
            inside[node.id] = inherited or node.id in self.placed.replicas
            if not inside[node.id]:
                continue
            reason = ""
            if node.id in physical:
                reason = "has physical inputs, which are stamped once"
            elif node.id in stopping:
                reason = "may end the program"
            elif node.scope != NO_SCOPE and node.id in self.placed.replicas:
                reason = "lives in a mode"
            if reason:
                msg = f"{node.path} cannot be replicated because it {reason}"
                errors.add(
                    ProgramError(msg, node.where, "Take it out of `replicas`."), node.id
                )


def _add(table: dict[int, list[int]], unit: int, reaction: int) -> None:
    listed = table.setdefault(unit, [])
    if not listed or listed[-1] != reaction:
        listed.append(reaction)
