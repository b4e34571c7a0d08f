# SPDX-License-Identifier: Apache-2.0
"""Random connections and reactions of a class.

Contained reactors and own reactions are in one sequence. Without a delay a value only
moves forward in it: from a reactor to a later reactor or reaction, from a reaction to a
later reactor. So there are no causality loops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from reactorl.tag import hours
from reactorl.testing.plans import ConnectionPlan, ReactionPlan, Ref

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl.testing.drawing import Drawing
    from reactorl.testing.plans import ChildPlan, ClassPlan, PortPlan

_AFTER: Final = (0, 0, 1, 2, 5)
_DEADLINES: Final = (*(None,) * 7, 0, hours(1), hours(2))


class _Target(NamedTuple):
    """An input of a contained reactor."""

    position: int
    child: ChildPlan
    port: PortPlan


class ClassDrawing:
    """Draws connections and reactions for a class that has everything else."""

    def __init__(self, drawing: Drawing, plan: ClassPlan) -> None:
        self._draw = drawing
        self._plan = plan
        ports = plan.all_ports()
        self._inputs = [port.name for port in ports if port.is_input]
        self._outputs = [port.name for port in ports if not port.is_input]
        self._wires: list[ConnectionPlan] = []
        self._reaction_targets: list[_Target] = []
        self._set_in: dict[str, tuple[str | None, ...]] = {}
        """Own outputs that reactions set -> the modes in which they may."""

    def finish(self, reactions: int) -> ClassPlan:
        """Return the class with connections and at least so many reactions."""
        self._wire_children()
        self._wire_outputs()
        position = 0
        drawn = []
        modes: list[str | None] = [
            self._draw.one((None, *self._plan.modes)) for _ in range(reactions)
        ]
        for index, mode in enumerate((*modes, *self._plan.modes)):
            position += self._draw.number(0, len(self._plan.children) - position)
            drawn.append(self._reaction(index, mode, position))
        return replace(
            self._plan, connections=tuple(self._wires), reactions=tuple(drawn)
        )

    # -- connections ----------------------------------------------------------------

    def _wire_children(self) -> None:
        targets = [
            _Target(index, child, port)
            for index, child in enumerate(self._plan.children)
            for port in child.cls.all_ports()
            if port.is_input
        ]
        while targets:
            target = targets.pop(0)
            kind = self._draw.number(0, 5)
            if kind == 5:
                self._reaction_targets.append(target)
            elif kind > 0:
                chosen = [target]
                alike = [
                    other
                    for other in targets
                    if other.child.mode == target.child.mode
                    and target.port.width != -1
                    and other.port.width != -1
                ]
                if alike and self._draw.chance(4):
                    chosen.append(self._draw.one(alike))
                    targets.remove(chosen[1])
                self._wire(chosen, delayed=kind > 2)

    def _wire(self, targets: Sequence[_Target], *, delayed: bool) -> None:
        first = targets[0]
        inside = first.child.mode
        modes: tuple[str | None, ...] = (None,)
        if inside is not None:
            modes = (None, inside)
        elif delayed:
            modes = (None, *self._plan.modes)
        mode = self._draw.one(modes)
        before = len(self._plan.children) if delayed else first.position
        sources = self._draw.some(list(self._sources(before, inside or mode)), 3)
        if sources:
            self._wires.append(
                ConnectionPlan(
                    sources=sources,
                    targets=tuple(self._ref(t.child, t.port) for t in targets),
                    after=self._draw.one(_AFTER) if delayed else None,
                    broadcast=self._draw.chance(3),
                    mode=mode,
                )
            )

    def _sources(self, before: int, mode: str | None) -> Iterator[Ref]:
        """Yield possible sources of connections, up to a position in the sequence."""
        for name in self._inputs:
            yield Ref(name)
        for child in self._plan.children[:before]:
            if child.mode in (None, mode):
                for port in child.cls.all_ports():
                    if not port.is_input:
                        yield self._ref(child, port)

    def _ref(self, child: ChildPlan, port: PortPlan) -> Ref:
        rows = child.width is not None and port.width is not None
        return Ref(port.name, child.name, interleave=rows and self._draw.chance(2))

    def _wire_outputs(self) -> None:
        anywhere = (None, *self._plan.modes)
        inherited = {
            name
            for base in self._plan.lineage()[:-1]
            for reaction in base.reactions
            for name in reaction.effect_ports
        }
        for name in self._outputs:
            fixed = name in inherited or not self._draw.wires_outputs
            kind = 0 if fixed else self._draw.number(0, 5)
            if kind == 4 and len(self._plan.modes) > 1:
                self._wire_output_by_mode(name)
                continue
            sources: tuple[Ref, ...] = ()
            if kind == 5:
                everything = len(self._plan.children)
                sources = self._draw.some(list(self._sources(everything, None)), 2)
            if sources:
                after = self._draw.one((None, None, *_AFTER))
                wire = ConnectionPlan(sources, (Ref(name),), after=after)
                self._wires.append(wire)
            else:
                self._set_in[name] = anywhere

    def _wire_output_by_mode(self, name: str) -> None:
        """Let an output be connected in some modes and set by reactions in others."""
        free: list[str | None] = []
        for mode in self._plan.modes:
            sources = list(self._sources(len(self._plan.children), mode))
            if sources and self._draw.chance(2):
                source = self._draw.one(sources)
                self._wires.append(ConnectionPlan((source,), (Ref(name),), mode=mode))
            else:
                free.append(mode)
        self._set_in[name] = tuple(free)

    # -- reactions ------------------------------------------------------------------

    def _reaction(self, index: int, mode: str | None, position: int) -> ReactionPlan:
        draw, plan = self._draw, self._plan
        readable = [*self._inputs, *self._readable(position, mode)]
        triggers = draw.some(readable, 2)
        rest = [name for name in readable if name not in triggers]
        actions = [
            action
            for base in plan.lineage()
            for action in base.actions
            if action.mode in (None, mode)
        ]
        logical = [action.name for action in actions if not action.physical]
        timers = [
            timer.name
            for base in plan.lineage()
            for timer in base.timers
            if timer.mode in (None, mode)
        ]
        trigger_actions = draw.some([action.name for action in actions], 2)
        trigger_timers = draw.some(timers, 1)
        occasions = draw.some(("startup", "shutdown", "reset"), 1)
        if not (triggers or trigger_actions or trigger_timers or occasions):
            occasions = ("startup",)
        outputs = [name for name, modes in self._set_in.items() if mode in modes]
        settable = [*outputs, *self._settable(position, mode)]
        deadline = draw.one(_DEADLINES)
        return ReactionPlan(
            name=f"r{plan.name[1:]}_{index}",
            salt=draw.number(0, 999),
            occasions=occasions,
            trigger_ports=triggers,
            trigger_actions=trigger_actions,
            trigger_timers=trigger_timers,
            source_ports=draw.some(rest, 1),
            effect_ports=draw.some(settable, 3),
            effect_actions=draw.some(logical, 2),
            effect_modes=()
            if mode is None
            else tuple(
                (name, draw.one(("reset", "history")))
                for name in draw.some(plan.modes, 2)
            ),
            deadline=deadline,
            mode=mode,
            budget=draw.number(1, 6),
            may_stop=draw.chance(12),
            uses_random=draw.chance(4),
            updates_deadline=deadline is not None and draw.chance(3),
        )

    def _readable(self, position: int, mode: str | None) -> Iterator[str]:
        for child in self._plan.children[:position]:
            if child.mode in (None, mode):
                for port in child.cls.all_ports():
                    if not port.is_input:
                        yield self._mention(child, port)

    def _settable(self, position: int, mode: str | None) -> Iterator[str]:
        for target in self._reaction_targets:
            if target.position >= position and target.child.mode in (None, mode):
                yield self._mention(target.child, target.port)

    def _mention(self, child: ChildPlan, port: PortPlan) -> str:
        """Name a port as in a signature; of a bank, all members or one."""
        member = ""
        if child.width is not None and self._draw.chance(3):
            member = f"[{self._draw.number(0, child.width - 1)}]"
        return f"{child.name}{member}.{port.name}"
