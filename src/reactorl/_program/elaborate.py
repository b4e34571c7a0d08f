# SPDX-License-Identifier: Apache-2.0
"""Elaboration: from the main reactor's class to the Program.

Reactors are expanded breadth first: all of a reactor's children and connections are
known before its children are expanded, because a child's multi-input may take its
width from them. Ids follow that order.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from reactorl._decl.connection import MAX_WIDTH, evaluate_width
from reactorl._decl.reactor import Reactor
from reactorl._program import rules
from reactorl._program.build import Build
from reactorl._program.collector import collector_paused
from reactorl._program.draft import Draft
from reactorl._program.faults import FAULTS, Faults
from reactorl._program.frame import Frame, Slot, members
from reactorl._program.layout import Layout
from reactorl._program.program import (
    NO_SCOPE,
    ActionNode,
    ModeNode,
    PortNode,
    ReactionNode,
    ReactorNode,
    TimerNode,
    WatchdogNode,
)
from reactorl._program.wiring import Wiring
from reactorl.errors import (
    DeclarationError,
    ProgramError,
    ReactorlWarning,
    UnknownNameError,
)
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reactorl._decl.bank import Child
    from reactorl._decl.reaction import Mention, Reaction
    from reactorl._program.program import Program
    from reactorl.position import Position


def elaborate(main: type[Reactor] | Reactor) -> Program:
    """Return the program whose main reactor is ``main``.

    ``build()`` of every instance runs; nothing else of the user's code does. The
    result depends on the declarations alone: same classes, same Program.

    Raises:
        DeclarationError: ``main`` lacks parameters, or ``build()`` does wrong.
        ProgramError: The declarations do not fit together; its subclasses say how.
            Of several errors it is the first; its notes tell the others.
    """
    faults = Faults()
    program = examine(main, faults)
    if program is None:
        raise faults.as_error()
    for doubt in program.warnings:
        warnings.warn(str(doubt), ReactorlWarning, stacklevel=2)
    return program


def examine(main: type[Reactor] | Reactor, faults: Faults) -> Program | None:
    """Return the program whose main reactor is ``main``, or note all that is wrong.

    Args:
        main: As for ``elaborate``.
        faults: Where errors go; if there are any, there is no program.
    """
    draft = Draft()
    with collector_paused():
        _Elaboration(draft, faults).run(main)
        # Loops of a program of which something is missing are loops of all of it.
        return draft.freeze(faults)


def sketch(
    main: type[Reactor] | Reactor,
) -> tuple[Program, tuple[DeclarationError | ProgramError, ...]]:
    """Return a program to look at, and the loops that keep it from running, if any.

    With loops the program has no order of reactions, and nothing can run it.

    Args:
        main: As for ``elaborate``.

    Raises:
        DeclarationError: ``main`` lacks parameters, or ``build()`` does wrong.
        ProgramError: Something else than loops is wrong.
    """
    draft, faults = Draft(), Faults()
    with collector_paused():
        _Elaboration(draft, faults).run(main)
    if faults:
        raise faults.as_error()
    program = draft.freeze(faults)
    return draft.unjudged() if program is None else program, tuple(faults)


class _Elaboration:
    def __init__(self, draft: Draft, faults: Faults) -> None:
        self._draft = draft
        self._faults = faults
        self._layouts: dict[type[Reactor], Layout] = {}
        # By reactor id; None: what is inside cannot be judged.
        self._placed: list[Layout | None] = []

    def run(self, main: object) -> None:
        """Place the main reactor and expand reactors until none is left."""
        where = here()
        given: Mapping[str, Any] = {}
        if isinstance(main, Reactor):
            given, where, main = main._given, main._where, type(main)
        elif not isinstance(main, type) or not issubclass(main, Reactor):
            msg = f"the main reactor is a Reactor class or reactor, not {main!r}"
            self._faults.note(DeclarationError(msg, where))
            return
        try:
            params = members(main, given, {}, None, None, where)
            slot = Slot("main", self._layout(main), None, params, None, where)
        except FAULTS as error:
            self._faults.note(error)
            return
        self._place(slot, -1, "", NO_SCOPE)
        reactors = self._draft.reactors
        done = 0
        while done < len(reactors):
            layout = self._placed[done]
            if layout is not None:
                self._expand(reactors[done], layout)
            done += 1

    def _layout(self, cls: type[Reactor]) -> Layout:
        layout = self._layouts.get(cls)
        if layout is None:
            layout = self._layouts[cls] = Layout(cls, self._faults)
        return layout

    # -- one reactor ----------------------------------------------------------------

    def _expand(self, node: ReactorNode, layout: Layout) -> None:
        frame = Frame(node, layout, len(self._draft.modes))
        decl = layout.decl
        if decl.modes:
            self._add_modes(frame)
        for child in decl.children:
            try:
                self._plan(frame, child)
            except FAULTS as error:
                self._lack(frame, error)
        if decl.has_build:
            self._build(frame)
        wiring = Wiring(self._draft, frame, self._faults) if frame.wires else None
        if wiring is not None:
            wiring.check_sides()
            wiring.infer_widths()
        for slot in frame.slots.values():
            self._place(slot, node.id, node.path, frame.scope_of(slot.mode))
        first_action = len(self._draft.actions)
        first_timer = len(self._draft.timers)
        first_watchdog = len(self._draft.watchdogs)
        if decl.timers:
            self._add_timers(frame)
        if decl.actions:
            self._add_actions(frame)
        if decl.watchdogs:
            self._add_watchdogs(frame, first_action)
        first = len(self._draft.reactions)
        if layout.reset_states:
            self._add_resets(frame)
        self._add_reactions(frame, first, first_timer, first_action, first_watchdog)
        if wiring is not None:
            wiring.connect(self._writers(first))

    def _lack(self, frame: Frame, error: DeclarationError | ProgramError) -> None:
        """Note why something is not contained that later statements may mention."""
        frame.lacking = True
        self._faults.note(error, frame.node.id)

    def _build(self, frame: Frame) -> None:
        build = Build(
            frame,
            partial(self._child_layout, frame),
            self._widths(frame),
            partial(self._lack, frame),
        )
        try:
            build.run()
        except FAULTS as error:
            self._lack(frame, error)

    def _duration(
        self,
        value: Any,  # noqa: ANN401
        node: ReactorNode,
        what: str,
        where: Position,
    ) -> int:
        """Return a time in nanoseconds; 0 if it is none, which is noted."""
        try:
            return rules.duration(value, node.params, what, where)
        except FAULTS as error:
            self._faults.note(error, node.id)
            return 0

    def _widths(self, frame: Frame) -> dict[str, int]:
        first = self._draft.first_port[frame.node.id]
        last = first + len(frame.layout.decl.ports)
        ports = self._draft.ports[first:last]
        return {port.name: port.width for port in ports if port.width is not None}

    def _writers(self, first: int) -> dict[int, list[ReactionNode]]:
        found: dict[int, list[ReactionNode]] = {}
        for reaction in self._draft.reactions[first:]:
            for port in reaction.effect_ports:
                found.setdefault(port, []).append(reaction)
        return found

    # -- children -------------------------------------------------------------------

    def _child_layout(
        self, frame: Frame, cls: type[Reactor], where: Position
    ) -> Layout:
        chain = [cls.__name__]
        at = frame.node.id
        while at >= 0:
            node = self._draft.reactors[at]
            chain.append(node.cls.__name__)
            if node.cls is cls:
                rules.refuse_containment(chain[::-1], where)
            at = node.parent
        return self._layout(cls)

    def _plan(self, frame: Frame, child: Child) -> None:
        layout = self._child_layout(frame, child.cls, child.where)
        count = None
        each: Callable[[int], Mapping[str, Any]] | None = None
        if child.width is not None:
            width = child.width
            if type(width) is not int or not 0 <= width <= MAX_WIDTH:
                shell = frame.as_shell()
                width = evaluate_width(width, shell, child.label, child.where)
            count = width
            if child.each is not None:
                each = partial(child.each, frame.as_shell())
        outer = frame.node.params
        params = members(child.cls, child.given, outer, count, each, child.where)
        slot = Slot(child.name, layout, count, params, child.mode, child.where)
        frame.put(slot, [child.handle])

    def _place(self, slot: Slot, parent: int, path: str, scope: int) -> None:
        """Give the members of a slot their ids, and their ports and channels."""
        draft, layout = self._draft, slot.layout
        slot.first = len(draft.reactors)
        prefix = f"{path}.{slot.name}" if path else slot.name
        for member in range(slot.count):
            index = None if slot.bank_width is None else member
            suffix = "" if index is None else f"[{index}]"
            reactor = len(draft.reactors)
            draft.reactors.append(
                ReactorNode(
                    reactor,
                    parent,
                    slot.name + suffix,
                    prefix + suffix,
                    layout.cls,
                    slot.member_params(member),
                    index,
                    slot.bank_width,
                    scope,
                    slot.where,
                )
            )
            self._placed.append(layout if slot.judgeable else None)
            draft.first_port.append(len(draft.ports))
            for place, port in enumerate(layout.decl.ports):
                identity = len(draft.ports)
                width = (slot.width(member, place) or 0) if port.is_multi else None
                draft.ports.append(
                    PortNode(
                        identity,
                        reactor,
                        port.name,
                        port.is_input,
                        width,
                        len(draft.channel_port),
                        port.mutable,
                        port.where,
                    )
                )
                if width is None:
                    draft.channel_port.append(identity)
                else:
                    draft.channel_port.extend([identity] * width)

    # -- own elements ---------------------------------------------------------------

    def _add_modes(self, frame: Frame) -> None:
        node, modes = frame.node, self._draft.modes
        modes.extend(
            ModeNode(
                frame.mode_base + place,
                node.id,
                mode.name,
                mode.initial,
                node.scope,
                mode.where,
            )
            for place, mode in enumerate(frame.layout.decl.modes)
        )

    def _add_timers(self, frame: Frame) -> None:
        node, timers = frame.node, self._draft.timers
        for timer in frame.layout.decl.timers:
            label, where = timer.label, timer.where
            timers.append(
                TimerNode(
                    len(timers),
                    node.id,
                    timer.name,
                    self._duration(timer.offset, node, label, where),
                    self._duration(timer.period, node, label, where),
                    frame.scope_of(timer.mode),
                    where,
                )
            )

    def _add_actions(self, frame: Frame) -> None:
        node, actions = frame.node, self._draft.actions
        for action in frame.layout.decl.actions:
            label, where, spacing = action.label, action.where, action.min_spacing
            try:
                rules.check_policy(action)
            except FAULTS as error:
                self._faults.note(error, node.id)
            actions.append(
                ActionNode(
                    len(actions),
                    node.id,
                    action.name,
                    action.physical,
                    self._duration(action.min_delay, node, label, where),
                    None
                    if spacing is None
                    else self._duration(spacing, node, label, where),
                    action.policy,
                    frame.scope_of(action.mode),
                    where,
                )
            )

    def _add_watchdogs(self, frame: Frame, first_action: int) -> None:
        node, watchdogs = frame.node, self._draft.watchdogs
        declared = frame.layout.decl.watchdogs
        for dog, effects in zip(declared, frame.layout.watchdog_actions, strict=True):
            assert dog.handling is not None  # checked when the class was created
            watchdogs.append(
                WatchdogNode(
                    len(watchdogs),
                    node.id,
                    dog.name,
                    self._duration(dog.timeout, node, dog.label, dog.where),
                    dog.handling,
                    tuple(first_action + place for place in effects),
                    frame.scope_of(dog.mode),
                    dog.where,
                )
            )

    def _add_resets(self, frame: Frame) -> None:
        """Put reactions that restore reset state first, one per mode concerned."""
        reactions = self._draft.reactions
        first = len(reactions)
        for mode, names in frame.layout.reset_states:
            scope = frame.scope_of(mode)
            if scope == NO_SCOPE:
                continue  # nothing is ever entered by reset
            reactions.append(
                ReactionNode(
                    id=len(reactions),
                    reactor=frame.node.id,
                    name="_reset_state" + ("" if mode is None else f"[{mode.name}]"),
                    index=len(reactions) - first,
                    kind="reset_state",
                    on_startup=False,
                    on_shutdown=False,
                    on_reset=True,
                    trigger_ports=(),
                    trigger_actions=(),
                    trigger_timers=(),
                    source_ports=(),
                    effect_ports=(),
                    effect_actions=(),
                    effect_modes=(),
                    effect_watchdogs=(),
                    deadline=None,
                    body=None,
                    handler=None,
                    forward=None,
                    reset_states=names,
                    scope=scope,
                    where=frame.layout.decl.elements[names[0]].where,
                )
            )

    def _add_reactions(
        self, frame: Frame, first: int, timer: int, action: int, watchdog: int
    ) -> None:
        draft, node, layout = self._draft, frame.node, frame.layout
        reactions = draft.reactions
        for reaction, signature in zip(
            layout.decl.reactions, layout.signatures, strict=True
        ):
            ports = partial(self._port_ids, frame, reaction)
            deadline = reaction.deadline
            if deadline is not None:
                label, where = f"deadline of {reaction.label}", reaction.where
                deadline = self._duration(deadline, node, label, where)
            reactions.append(
                ReactionNode(
                    len(reactions),
                    node.id,
                    reaction.title,
                    len(reactions) - first,
                    "body",
                    "startup" in reaction.occasions,
                    "shutdown" in reaction.occasions,
                    "reset" in reaction.occasions,
                    ports("trigger", signature.trigger_ports),
                    tuple([action + place for place in signature.trigger_actions]),
                    tuple([timer + place for place in signature.trigger_timers]),
                    ports("source", signature.source_ports),
                    ports("effect", signature.effect_ports),
                    tuple([action + place for place in signature.effect_actions]),
                    tuple(
                        [(frame.mode_base + p, e) for p, e in signature.effect_modes]
                    ),
                    tuple([watchdog + place for place in signature.effect_watchdogs]),
                    deadline,
                    reaction.body,
                    reaction.handler,
                    None,
                    (),
                    frame.scope_of(reaction.mode),
                    reaction.where,
                )
            )

    def _port_ids(
        self,
        frame: Frame,
        reaction: Reaction,
        role: str,
        listed: tuple[int | Mention, ...],
    ) -> tuple[int, ...]:
        if not listed:
            return ()
        first = self._draft.first_port
        own = first[frame.node.id]
        if len(listed) == 1 and isinstance(listed[0], int):
            return (own + listed[0],)
        found: dict[int, None] = {}
        for item in listed:
            if isinstance(item, int):
                found[own + item] = None
                continue
            try:
                found |= dict.fromkeys(self._child_ports(frame, reaction, role, item))
            except FAULTS as error:
                self._faults.note(error, frame.node.id)
        return tuple(found)

    def _child_ports(
        self, frame: Frame, reaction: Reaction, role: str, item: Mention
    ) -> list[int]:
        slot = frame.slots.get(item.child or "")
        if slot is None:
            if frame.lacking:  # it may be what is lacking
                return []
            owner = f"{frame.node.path} (class {frame.layout.name})"
            known = (*frame.slots,)
            raise UnknownNameError(str(item.child), owner, known, reaction.where)
        place = slot.layout.port_index.get(item.name)
        if place is None:
            owner = f"{frame.node.path}.{slot.name} (class {slot.layout.name})"
            known = (*slot.layout.port_index,)
            raise UnknownNameError(item.name, owner, known, reaction.where)
        port = slot.layout.decl.ports[place]
        rules.check_child_role(port, item, role, reaction)
        first = self._draft.first_port
        return [
            first[slot.first + member] + place
            for member in rules.chosen_members(item, slot.count, reaction)
        ]
