# SPDX-License-Identifier: Apache-2.0
"""From a Program to the flat tables of the core.

A slot stores what a port holds; ports joined without delay share one. The targets of
one delay stage share one too, because broadcasting happens after the delay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl import _core
from reactorl._decl.reaction import is_native
from reactorl._program.dtypes import channel_dtypes, native_elements
from reactorl.tag import FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reactorl._decl.dtype import DType
    from reactorl._program.cut import Part
    from reactorl._program.dtypes import NativeElement
    from reactorl._program.program import ConnectionNode, Program, ReactionNode

_TIMER, _LOGICAL, _PHYSICAL, _STAGE, _PHYSICAL_STAGE = range(5)
_LAYOUT_SHIFT = 48  # as in native_value.hpp
_POLICIES = {"defer": 0, "drop": 1, "replace": 2, "update": 3}


@dataclass(frozen=True, slots=True)
class Planned:
    """The core's plan, and what its ids stand for."""

    plan: _core.Plan
    channel_slot: Sequence[int]  # channel -> slot
    action_slot: Sequence[int]  # action -> slot
    first_action: int  # trigger id of action 0
    first_stage: int  # trigger id of stage 0
    slot_channel: Sequence[int]  # slot -> the channel that is written, or -1
    stages: Sequence[ConnectionNode]  # one connection of each stage
    channel_dtype: Sequence[DType | None]
    slot_dtype: Sequence[DType | None]  # empty if no port or action has one
    layouts: Sequence[DType | None]  # how to show values, by the layout of their type

    @property
    def slot_types(self) -> list[int]:
        """Return the types of the core for all slots."""
        return [self.type_of(dtype) for dtype in self.slot_dtype]

    def type_of(self, dtype: DType | None) -> int:
        """Return the type of the core for a data type."""
        if dtype is None:
            return _core.UNTYPED
        layout = 0 if dtype.is_number else self.layouts.index(dtype)
        return dtype.code | layout << _LAYOUT_SHIFT


def make_plan(program: Program, workers: int, part: Part | None = None) -> Planned:
    """Return the tables for ``workers`` workers.

    In a federation, ``part`` is what this federate runs. All tables have all rows, so
    ids and levels are the same in all federates; what runs elsewhere is not triggered.
    """
    root, order = program.roots, program.order
    stages: list[ConnectionNode] = []
    stage_targets: dict[int, int] = {}  # target channel -> stage
    for connection in program.connections:
        if connection.stage is None:
            continue
        if connection.stage == len(stages):
            stages.append(connection)
        stage_targets[connection.target] = connection.stage

    slot_channel: list[int] = []
    root_slot: dict[int, int] = {}
    stage_slot: list[int] = [-1] * len(stages)
    for channel in range(len(program.channel_port)):
        if root[channel] != channel:
            continue
        stage = stage_targets.get(channel, -1)
        if stage >= 0 and stage_slot[stage] >= 0:
            root_slot[channel] = stage_slot[stage]
            continue
        root_slot[channel] = len(slot_channel)
        slot_channel.append(channel)
        if stage >= 0:
            stage_slot[stage] = root_slot[channel]
    channel_slot = [root_slot[root[c]] for c in range(len(program.channel_port))]

    timer_slot = range(len(slot_channel), len(slot_channel) + len(program.timers))
    slot_channel.extend(-1 for _ in timer_slot)
    action_slot = range(len(slot_channel), len(slot_channel) + len(program.actions))
    slot_channel.extend(-1 for _ in action_slot)

    of_channel = channel_dtypes(program)
    dtypes = _slot_dtypes(program, of_channel, slot_channel)
    typed = dict.fromkeys(d for d in dtypes if d is not None and not d.is_number)

    plan = _core.Plan()
    plan.workers = workers
    plan.slots = len(slot_channel)
    home = _homes(program, workers)
    reactions = program.reactions
    plan.add_reactions(
        level=order.rank,
        reactor=[r.reactor for r in reactions],
        home=[home[r.reactor] for r in reactions],
        scope=[r.scope for r in reactions],
        deadline=[-1 if r.deadline is None else r.deadline for r in reactions],
        forward_from=[_forward(r, 0, channel_slot) for r in reactions],
        forward_to=[_forward(r, 1, channel_slot) for r in reactions],
        **_natives(program, dtypes, channel_slot),
    )
    timers, actions = program.timers, program.actions
    plan.add_triggers(
        kind=[_TIMER] * len(timers)
        + [_PHYSICAL if a.physical else _LOGICAL for a in actions]
        + [_PHYSICAL_STAGE if s.physical else _STAGE for s in stages],
        policy=[0] * len(timers)
        + [_POLICIES[a.policy] for a in actions]
        + [0] * len(stages),
        scope=[e.scope for table in (timers, actions, stages) for e in table],
        slot=[*timer_slot, *action_slot, *stage_slot],
        source=[-1] * (len(timers) + len(actions))
        + [channel_slot[s.source] for s in stages],
        delay=[t.offset if _runs(part, t.reactor) else FOREVER for t in timers]
        + [a.min_delay for a in actions]
        + [s.delay or 0 for s in stages],
        spacing=[t.period for t in timers]
        + [-1 if a.min_spacing is None else a.min_spacing for a in actions]
        + [-1] * len(stages),
    )
    modal: dict[int, int] = {}
    for mode in program.modes:
        modal.setdefault(mode.reactor, len(modal))
    plan.add_modes(
        modal=[modal[m.reactor] for m in program.modes],
        scope=[m.scope for m in program.modes],
        initial=[m.initial for m in program.modes],
    )
    own = [r for r in reactions if _runs(part, r.reactor)]
    plan.startup = [r.id for r in own if r.on_startup]
    plan.shutdown = [r.id for r in own if r.on_shutdown]
    plan.reset = [r.id for r in own if r.on_reset]

    triggered: list[list[int]] = [[] for _ in slot_channel]
    for reaction in own:
        for port in reaction.trigger_ports:
            for channel in program.ports[port].channels:
                _add(triggered[channel_slot[channel]], reaction.id)
        for action in reaction.trigger_actions:
            _add(triggered[action_slot[action]], reaction.id)
        for timer in reaction.trigger_timers:
            _add(triggered[timer_slot[timer]], reaction.id)
    plan.set_slot_reactions(*_table(triggered))
    first_stage = len(timers) + len(actions)
    delayed: list[list[int]] = [[] for _ in slot_channel]
    for number, connection in enumerate(stages):
        if part is not None and part.federate not in part.cut.stage_owners[number]:
            continue
        delayed[channel_slot[connection.source]].append(first_stage + number)
    plan.set_slot_stages(*_table(delayed))
    plan.set_downstream(*_table(order.downstream))
    planned = Planned(
        plan=plan,
        channel_slot=channel_slot,
        action_slot=action_slot,
        first_action=len(timers),
        first_stage=first_stage,
        slot_channel=slot_channel,
        stages=stages,
        channel_dtype=of_channel,
        slot_dtype=dtypes,
        layouts=[None, *typed],
    )
    plan.slot_types = planned.slot_types
    return planned


def _slot_dtypes(
    program: Program, of_channel: Sequence[DType | None], slot_channel: Sequence[int]
) -> list[DType | None]:
    """Return the data type of each slot; nothing if none has one."""
    actions = [action.dtype for action in program.actions]
    if all(d is None for d in (*actions, *(port.dtype for port in program.ports))):
        return []
    timers = len(program.timers)
    ports = len(slot_channel) - timers - len(actions)
    channels = [of_channel[channel] for channel in slot_channel[:ports]]
    return [*channels, *([None] * timers), *actions]


def _natives(
    program: Program, dtypes: Sequence[DType | None], channel_slot: Sequence[int]
) -> dict[str, list[bool]]:
    """Return which reactions run without the interpreter."""
    bodies = [is_native(r.body) for r in program.reactions]
    handlers = [is_native(r.handler) for r in program.reactions]
    if any((*bodies, *handlers)):
        for r in program.reactions:
            slot = _forward(r, 0, channel_slot)
            if slot >= 0:  # a connection in a mode copies native values as they are
                bodies[r.id] = bool(dtypes) and dtypes[slot] is not None
            handlers[r.id] |= r.handler is None and bodies[r.id]
    return {"native": bodies, "native_handler": handlers}


def set_native(
    session: _core.Session,
    program: Program,
    planned: Planned,
    node: ReactionNode,
    state: int,
) -> None:
    """Give a reaction with native bodies their functions, and the state's address."""
    inputs, effects = native_elements(program, planned.channel_dtype, node)

    def as_tuple(
        element: NativeElement,
    ) -> tuple[int, int, list[int], int, bool, str]:
        name, identity = element.name(program), element.node
        code = 0 if element.dtype is None else planned.type_of(element.dtype)
        if element.kind == "port":
            slots = [planned.channel_slot[c] for c in program.ports[identity].channels]
            return 0, code, slots, 0, False, name
        if element.kind == "action":
            slot, trigger = (
                planned.action_slot[identity],
                planned.first_action + identity,
            )
            return 1, code, [slot], trigger, program.actions[identity].physical, name
        return 2, code, [], identity, element.entry == "reset", name

    session.set_native(
        reaction=node.id,
        body=_address(node.body),
        handler=_address(node.handler),
        state=state,
        stops=bool(node.stops),
        inputs=[as_tuple(element) for element in inputs],
        effects=[as_tuple(element) for element in effects],
    )


def _address(body: object) -> int:
    function: int = getattr(body, "function", 0) if is_native(body) else 0
    return function


def _runs(part: Part | None, reactor: int) -> bool:
    return part is None or part.runs(reactor)


def _add(reactions: list[int], reaction: int) -> None:
    # Channels of one multiport may share a slot; a reaction is triggered once.
    if not reactions or reactions[-1] != reaction:
        reactions.append(reaction)


def _forward(reaction: ReactionNode, end: int, channel_slot: Sequence[int]) -> int:
    return -1 if reaction.forward is None else channel_slot[reaction.forward[end]]


def _table(rows: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    start = [0]
    items: list[int] = []
    for row in rows:
        items.extend(row)
        start.append(len(items))
    return start, items


def _homes(program: Program, workers: int) -> list[int]:
    """Spread the members of each bank over the workers, children with their parents."""
    home = [0] * len(program.reactors)
    for node in program.reactors:
        if node.bank_index is not None and (node.bank_width or 0) > 1:
            home[node.id] = node.bank_index * workers // (node.bank_width or 1)
        elif node.parent >= 0:
            home[node.id] = home[node.parent]
    return home
