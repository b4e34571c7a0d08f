# SPDX-License-Identifier: Apache-2.0
"""Elaboration: from the main reactor's class to the Program.

Reactors are expanded breadth first: all of a reactor's children and connections are
known before its children are expanded, because a child's multi-input may take its
width from them. Ids follow that order.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from reactorl._decl.connection import (
    MAX_CHANNELS,
    MAX_REACTORS,
    MAX_WIDTH,
    evaluate_width,
)
from reactorl._decl.reactor import Reactor
from reactorl._program import dtypes, rules
from reactorl._program.build import Build
from reactorl._program.builder import ProgramBuilder
from reactorl._program.errors import PROGRAM_ERRORS, ErrorCollector
from reactorl._program.frame import Frame, Instantiation, members
from reactorl._program.layout import Layout
from reactorl._program.program import (
    NO_SCOPE,
    ActionNode,
    ModeNode,
    PortNode,
    Program,
    ReactionNode,
    ReactorNode,
    TimerNode,
    WatchdogNode,
)
from reactorl._program.wiring import Wiring
from reactorl._util.gc_pause import gc_paused
from reactorl.errors import (
    DeclarationError,
    ProgramError,
    ReactorlWarning,
    UnknownNameError,
    WidthError,
)
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl._decl.bank import Child
    from reactorl._decl.reaction import Mention, Reaction
    from reactorl.position import Position


@dataclass(frozen=True, slots=True)
class Analysis:
    """A program with all its errors.

    Attributes:
        program: The program; None if an error keeps it from being complete. If the
            only errors are causality loops it is complete, but its reactions have no
            order: it can be drawn and not run.
        errors: All errors, in the order in which they were found.
    """

    program: Program | None
    errors: tuple[DeclarationError | ProgramError, ...]


def elaborate(main: type[Reactor] | Reactor | Program) -> Program:
    """Return the program whose main reactor is ``main``.

    A Program is returned as it is.

    ``build()`` of every instance runs; no other user code does. The result depends on
    the declarations alone: the same classes give the same Program.

    Raises:
        DeclarationError: ``main`` lacks parameters, or ``build()`` is wrong.
        ProgramError: The declarations do not make a legal program; its subclasses say
            why. Of several errors the first is raised; its notes list the others.
    """
    if isinstance(main, Program):
        return main
    found = analyze(main)
    if found.errors:
        raise first_error(found.errors)
    assert found.program is not None
    for warning in found.program.warnings:
        warnings.warn(str(warning), ReactorlWarning, stacklevel=2)
    return found.program


def analyze(main: type[Reactor] | Reactor) -> Analysis:
    """Return the program whose main reactor is ``main``, and all errors in it.

    For tools; ``elaborate`` raises instead.

    Args:
        main: As for ``elaborate``.
    """
    builder, errors = ProgramBuilder(), ErrorCollector()
    with gc_paused():
        try:
            _Elaboration(builder, errors).run(main)
        except _TooLargeError as error:
            errors.add(error.limit)
            return Analysis(None, tuple(errors))
        is_complete = not errors
        # A loop in a part of a program is a loop in the whole program.
        program = builder.freeze(errors)
        if program is not None:
            for wrong in dtypes.errors(program):
                errors.add(wrong)
        if program is None and is_complete:
            program = builder.without_order()
    return Analysis(program, tuple(errors))


def first_error(
    errors: Sequence[DeclarationError | ProgramError],
) -> DeclarationError | ProgramError:
    """Return the first error, with notes that list the others."""
    first, *others = errors
    for other in others:
        first.add_note(f"Also: {other}")
    return first


class _TooLargeError(Exception):
    """Ends an elaboration that would exhaust memory; not an error to collect."""

    def __init__(self, limit: WidthError) -> None:
        super().__init__(limit)
        self.limit = limit


def _check_size(builder: ProgramBuilder, inst: Instantiation) -> None:
    """Check the size of the program with the members of an instantiation, before any.

    Raises:
        _TooLargeError: It would have too many reactors or channels.
    """
    ports = inst.layout.decl.ports
    if len(inst.widths) == 1 and not inst.inferred:
        channels = inst.count * sum(width or 0 for width in inst.widths[0])
    else:
        channels = sum(
            inst.width(member, port) or 0
            for member in range(inst.count)
            for port in range(len(ports))
        )
    for what, had, more, most in (
        ("reactors", len(builder.reactors), inst.count, MAX_REACTORS),
        ("channels of ports", len(builder.channel_port), channels, MAX_CHANNELS),
    ):
        if had + more > most:
            msg = (
                f"the number of {what} of a program must be at most {most}, got "
                f"{had + more} with {inst.name}"
            )
            remedy = "Reduce widths; nested banks multiply theirs."
            raise _TooLargeError(WidthError(msg, inst.where, remedy))


class _Elaboration:
    def __init__(self, builder: ProgramBuilder, errors: ErrorCollector) -> None:
        self._builder = builder
        self._errors = errors
        self._layouts: dict[type[Reactor], Layout] = {}
        # By reactor id; None: its content cannot be checked.
        self._placed: list[Layout | None] = []

    def run(self, main: object) -> None:
        """Place the main reactor and expand reactors until none is left."""
        where = here()
        given: Mapping[str, Any] = {}
        if isinstance(main, Reactor):
            given, where, main = main._given, main._where, type(main)
        elif not isinstance(main, type) or not issubclass(main, Reactor):
            msg = f"the main reactor must be a Reactor class or reactor, got {main!r}"
            self._errors.add(DeclarationError(msg, where))
            return
        try:
            params = members(main, given, {}, None, None, where)
            inst = Instantiation("main", self._layout(main), None, params, None, where)
        except PROGRAM_ERRORS as error:
            self._errors.add(error)
            return
        self._place(inst, -1, "", NO_SCOPE)
        reactors = self._builder.reactors
        done = 0
        while done < len(reactors):
            layout = self._placed[done]
            if layout is not None:
                self._expand(reactors[done], layout)
            done += 1

    def _layout(self, cls: type[Reactor]) -> Layout:
        layout = self._layouts.get(cls)
        if layout is None:
            layout = self._layouts[cls] = Layout(cls, self._errors)
        return layout

    # -- one reactor ----------------------------------------------------------------

    def _expand(self, node: ReactorNode, layout: Layout) -> None:
        frame = Frame(node, layout, len(self._builder.modes))
        decl = layout.decl
        if decl.modes:
            self._add_modes(frame)
        for child in decl.children:
            try:
                self._plan(frame, child)
            except PROGRAM_ERRORS as error:
                self._lack(frame, error)
        if decl.has_build:
            self._build(frame)
        wiring = Wiring(self._builder, frame, self._errors) if frame.wires else None
        if wiring is not None:
            wiring.check_sides()
            wiring.infer_widths()
        for inst in frame.instantiations.values():
            self._place(inst, node.id, node.path, frame.scope_of(inst.mode))
        first_action = len(self._builder.actions)
        first_timer = len(self._builder.timers)
        first_watchdog = len(self._builder.watchdogs)
        if decl.timers:
            self._add_timers(frame)
        if decl.actions:
            self._add_actions(frame)
        if decl.watchdogs:
            self._add_watchdogs(frame, first_action)
        first = len(self._builder.reactions)
        if layout.reset_states:
            self._add_resets(frame)
        self._add_reactions(frame, first, first_timer, first_action, first_watchdog)
        if wiring is not None:
            wiring.connect(self._writers(first))

    def _lack(self, frame: Frame, error: DeclarationError | ProgramError) -> None:
        """Add the error of a missing child; later statements may refer to it."""
        frame.lacking = True
        self._errors.add(error, frame.node.id)

    def _build(self, frame: Frame) -> None:
        build = Build(
            frame,
            partial(self._child_layout, frame),
            self._widths(frame),
            partial(self._lack, frame),
        )
        try:
            build.run()
        except PROGRAM_ERRORS as error:
            self._lack(frame, error)

    def _duration(
        self,
        value: Any,  # noqa: ANN401
        node: ReactorNode,
        what: str,
        where: Position,
    ) -> int:
        """Return a time in nanoseconds; 0 and an error if it is not a time."""
        try:
            return rules.duration(value, node.params, what, where)
        except PROGRAM_ERRORS as error:
            self._errors.add(error, node.id)
            return 0

    def _widths(self, frame: Frame) -> dict[str, int]:
        first = self._builder.first_port[frame.node.id]
        last = first + len(frame.layout.decl.ports)
        ports = self._builder.ports[first:last]
        return {port.name: port.width for port in ports if port.width is not None}

    def _writers(self, first: int) -> dict[int, list[ReactionNode]]:
        found: dict[int, list[ReactionNode]] = {}
        for reaction in self._builder.reactions[first:]:
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
            node = self._builder.reactors[at]
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
                owner = frame.as_prototype()
                width = evaluate_width(width, owner, child.label, child.where)
            count = width
            if child.each is not None:
                each = partial(child.each, frame.as_prototype())
        outer = frame.node.params
        params = members(child.cls, child.given, outer, count, each, child.where)
        inst = Instantiation(child.name, layout, count, params, child.mode, child.where)
        frame.put(inst, [child.handle])

    def _place(self, inst: Instantiation, parent: int, path: str, scope: int) -> None:
        """Give ids to the members of an instantiation and to their ports."""
        builder, layout = self._builder, inst.layout
        _check_size(builder, inst)
        inst.first = len(builder.reactors)
        prefix = f"{path}.{inst.name}" if path else inst.name
        for member in range(inst.count):
            bank_index = None if inst.bank_width is None else member
            suffix = "" if bank_index is None else f"[{bank_index}]"
            reactor = len(builder.reactors)
            builder.reactors.append(
                ReactorNode(
                    reactor,
                    parent,
                    inst.name + suffix,
                    prefix + suffix,
                    layout.cls,
                    inst.member_params(member),
                    bank_index,
                    inst.bank_width,
                    scope,
                    inst.where,
                    inst.at,
                )
            )
            self._placed.append(layout if inst.judgeable else None)
            builder.first_port.append(len(builder.ports))
            for index, port in enumerate(layout.decl.ports):
                identity = len(builder.ports)
                width = (inst.width(member, index) or 0) if port.is_multi else None
                builder.ports.append(
                    PortNode(
                        identity,
                        reactor,
                        port.name,
                        port.is_input,
                        width,
                        len(builder.channel_port),
                        port.mutable,
                        port.where,
                        port.dtype,
                    )
                )
                if width is None:
                    builder.channel_port.append(identity)
                else:
                    builder.channel_port.extend([identity] * width)

    # -- own elements ---------------------------------------------------------------

    def _add_modes(self, frame: Frame) -> None:
        node, modes = frame.node, self._builder.modes
        modes.extend(
            ModeNode(
                frame.mode_base + index,
                node.id,
                mode.name,
                mode.initial,
                node.scope,
                mode.where,
            )
            for index, mode in enumerate(frame.layout.decl.modes)
        )

    def _add_timers(self, frame: Frame) -> None:
        node, timers = frame.node, self._builder.timers
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
        node, actions = frame.node, self._builder.actions
        for action in frame.layout.decl.actions:
            label, where, spacing = action.label, action.where, action.min_spacing
            try:
                rules.check_policy(action)
            except PROGRAM_ERRORS as error:
                self._errors.add(error, node.id)
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
                    action.dtype,
                )
            )

    def _add_watchdogs(self, frame: Frame, first_action: int) -> None:
        node, watchdogs = frame.node, self._builder.watchdogs
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
                    tuple(first_action + index for index in effects),
                    frame.scope_of(dog.mode),
                    dog.where,
                )
            )

    def _add_resets(self, frame: Frame) -> None:
        """Put reactions that restore reset state first, one per mode concerned."""
        reactions = self._builder.reactions
        first = len(reactions)
        for mode, names in frame.layout.reset_states:
            scope = frame.scope_of(mode)
            if scope == NO_SCOPE:
                continue  # outside of modes there is no reset
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
        builder, node, layout = self._builder, frame.node, frame.layout
        reactions = builder.reactions
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
                    tuple([action + index for index in signature.trigger_actions]),
                    tuple([timer + index for index in signature.trigger_timers]),
                    ports("source", signature.source_ports),
                    ports("effect", signature.effect_ports),
                    tuple([action + index for index in signature.effect_actions]),
                    tuple(
                        [(frame.mode_base + p, e) for p, e in signature.effect_modes]
                    ),
                    tuple([watchdog + index for index in signature.effect_watchdogs]),
                    deadline,
                    reaction.body,
                    reaction.handler,
                    None,
                    (),
                    frame.scope_of(reaction.mode),
                    reaction.where,
                    reaction.stops,
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
        first = self._builder.first_port
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
            except PROGRAM_ERRORS as error:
                self._errors.add(error, frame.node.id)
        return tuple(found)

    def _child_ports(
        self, frame: Frame, reaction: Reaction, role: str, item: Mention
    ) -> list[int]:
        inst = frame.instantiations.get(item.child or "")
        if inst is None:
            if frame.lacking:  # it may be the missing one
                return []
            owner = f"{frame.node.path} (class {frame.layout.name})"
            known = (*frame.instantiations,)
            raise UnknownNameError(str(item.child), owner, known, reaction.where)
        index = inst.layout.port_index.get(item.name)
        if index is None:
            owner = f"{frame.node.path}.{inst.name} (class {inst.layout.name})"
            known = (*inst.layout.port_index,)
            raise UnknownNameError(item.name, owner, known, reaction.where)
        port = inst.layout.decl.ports[index]
        rules.check_child_role(port, item, role, reaction)
        first = self._builder.first_port
        return [
            first[inst.first + member] + index
            for member in rules.chosen_members(item, inst.count, reaction)
        ]
