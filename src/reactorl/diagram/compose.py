# SPDX-License-Identifier: Apache-2.0
"""From a Program to its Scene."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from reactorl._program.program import NO_SCOPE
from reactorl.diagram.labels import first_line, short_value, time_text, type_text
from reactorl.diagram.loops import Loops
from reactorl.diagram.scene import Box, Edge, Item, Scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._program.program import (
        ActionNode,
        ConnectionNode,
        PortNode,
        Position,
        Program,
        ReactionNode,
        ReactorNode,
    )
    from reactorl.diagram.scene import EdgeKind, Facts, ItemKind

_INDEX = re.compile(r"\[\d+\]")


def scene(program: Program, *, problems: Sequence[Exception] = ()) -> Scene:
    """Return the scene of a program.

    Args:
        program: The program.
        problems: Errors about its loops, if it has any; ``graph`` finds them.
    """
    return _Composer(program, problems).scene()


@dataclass
class _Contents:
    """The elements of one reactor, by kind."""

    modes: list[Any] = field(default_factory=list)
    ports: list[Any] = field(default_factory=list)
    timers: list[Any] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    watchdogs: list[Any] = field(default_factory=list)
    reactions: list[ReactionNode] = field(default_factory=list)


class _Composer:
    def __init__(self, program: Program, problems: Sequence[Exception]) -> None:
        self._program = program
        self._problems = problems
        self._loops = Loops(program, problems)
        self._places: dict[Position, str] = {}
        self._boxes: list[Box] = []
        self._box_of: list[int] = []  # by reactor
        self._items: list[Item] = []
        # From an id in the program to the item: by kind, then id.
        self._item_of: dict[str, dict[int, int]] = defaultdict(dict)
        self._occasions: dict[tuple[int, str, int], int] = {}
        self._edges: list[Edge] = []

    def scene(self) -> Scene:
        self._add_boxes()
        contents = [_Contents() for _ in self._program.reactors]
        for name in ("modes", "ports", "timers", "actions", "watchdogs", "reactions"):
            for node in getattr(self._program, name):
                getattr(contents[node.reactor], name).append(node)
        for reactor, found in zip(self._program.reactors, contents, strict=True):
            self._add_items(reactor, found)
        self._boxes = [self._in_mode(box) for box in self._boxes]
        for reaction in self._program.reactions:
            if reaction.kind == "body":
                self._add_signature(reaction)
        for dog in self._program.watchdogs:
            for action in dog.effect_actions:
                ends = self._item_of["watchdogs"][dog.id], self._item_of["actions"]
                self._edge("effect", ends[0], ends[1][action], dog.where)
        self._add_connections()
        return Scene(
            tuple(self._boxes),
            tuple(self._items),
            tuple(self._edges),
            tuple(str(problem) for problem in self._problems),
        )

    def _where(self, where: Position) -> str:
        text = self._places.get(where)
        if text is None:
            text = self._places[where] = str(where)
        return text

    # -- boxes ------------------------------------------------------------------------

    def _add_boxes(self) -> None:
        bank = -1
        self._scopes: list[int] = []  # by box
        for node in self._program.reactors:
            parent = -1 if node.parent < 0 else self._box_of[node.parent]
            if node.bank_index == 0:
                bank = len(self._boxes)
                name, path = (_without_index(text) for text in (node.name, node.path))
                self._box(node, "bank", parent, name, path)
            if node.bank_index is not None:
                parent = bank
            self._box_of.append(len(self._boxes))
            self._box(node, "reactor", parent, node.name, node.path)

    def _box(
        self,
        node: ReactorNode,
        kind: Literal["reactor", "bank"],
        parent: int,
        name: str,
        path: str,
    ) -> None:
        is_bank = kind == "bank"
        params = node.params.items()
        box = Box(
            id=len(self._boxes),
            parent=parent,
            kind=kind,
            name=name,
            path=path,
            cls=node.cls.__name__,
            width=node.bank_width if is_bank else None,
            mode=None,
            params=() if is_bank else tuple((k, short_value(v)) for k, v in params),
            doc=first_line(node.cls.__doc__),
            # The position of the call that starts a program is not part of it.
            where="" if node.parent < 0 else self._where(node.where),
            cls_where=self._where(node.cls.__reactor__.where),
        )
        self._boxes.append(box)
        member = not is_bank and node.bank_index is not None
        self._scopes.append(NO_SCOPE if member else node.scope)

    def _in_mode(self, box: Box) -> Box:
        scope = self._scopes[box.id]
        if scope == NO_SCOPE or box.parent < 0:
            return box
        mode = self._item_of["modes"][scope]
        return replace(box, mode=mode) if self._items[mode].box == box.parent else box

    # -- items ------------------------------------------------------------------------

    def _add_items(self, reactor: ReactorNode, found: _Contents) -> None:
        for mode in found.modes:
            shown = "initial" if mode.initial else ""
            self._item("mode", mode, "modes", shown, ())
        declared = {port.name: port for port in reactor.cls.__reactor__.ports}
        for port in found.ports:
            self._add_port(port, type_text(declared.get(port.name)))
        for timer in found.timers:
            times = time_text(timer.offset), time_text(timer.period)
            period = times[1] if timer.period else ""
            facts: Facts = (("offset", times[0]), ("period", period))
            shown = f"({times[0]}, {times[1]})" if timer.period else f"({times[0]})"
            self._item("timer", timer, "timers", shown, facts)
        types = {action.name: action for action in reactor.cls.__reactor__.actions}
        for action in found.actions:
            self._add_action(action, type_text(types.get(action.name)))
        for dog in found.watchdogs:
            shown = f"({time_text(dog.timeout)})"
            facts = (("timeout", time_text(dog.timeout)),)
            self._item("watchdog", dog, "watchdogs", shown, facts)
        number = 0
        for reaction in found.reactions:
            if reaction.kind == "body":
                number += 1
                self._add_reaction(reaction, number)

    def _item(
        self,
        kind: ItemKind,
        node: Any,  # noqa: ANN401
        table: str,
        shown: str,
        facts: Facts,
        number: int | None = None,
        *,
        loop: bool = False,
    ) -> None:
        reactor = self._program.reactors[node.reactor]
        item = Item(
            id=len(self._items),
            box=self._box_of[node.reactor],
            kind=kind,
            name=node.name,
            path=f"{reactor.path}.{node.name}",
            shown=shown,
            number=number,
            mode=None if kind == "mode" else self._mode(node),
            loop=loop,
            facts=tuple((name, text) for name, text in facts if text),
            where=self._where(node.where),
        )
        self._items.append(item)
        self._item_of[table][node.id] = item.id

    def _mode(self, node: Any) -> int | None:  # noqa: ANN401
        """Return the mode that contains an element, if it is one of its reactor."""
        scope = getattr(node, "scope", NO_SCOPE)
        if scope == NO_SCOPE:
            return None
        own = self._program.modes[scope].reactor == node.reactor
        return self._item_of["modes"][scope] if own else None

    def _add_port(self, port: PortNode, type_: str) -> None:
        facts = (
            ("type", type_),
            ("width", "" if port.width is None else str(port.width)),
            ("mutable", "yes" if port.mutable else ""),
        )
        shown = "" if port.width is None else f"[{port.width}]"
        loop = any(self._loops.has(channel) for channel in port.channels)
        kind: ItemKind = "input" if port.is_input else "output"
        self._item(kind, port, "ports", shown, facts, loop=loop)

    def _add_action(self, action: ActionNode, type_: str) -> None:
        spacing = action.min_spacing
        facts = (
            ("type", type_),
            ("min delay", time_text(action.min_delay)),
            ("min spacing", "" if spacing is None else time_text(spacing)),
            ("policy", "" if spacing is None else action.policy),
        )
        times = [time_text(action.min_delay)] if action.min_delay or spacing else []
        times += [] if spacing is None else [time_text(spacing)]
        kind: ItemKind = "physical action" if action.physical else "logical action"
        shown = f"({', '.join(times)})" if times else ""
        self._item(kind, action, "actions", shown, facts)

    def _add_reaction(self, reaction: ReactionNode, number: int) -> None:
        late = reaction.deadline
        facts = (
            ("triggers", self._listed(reaction, "trigger")),
            ("reads", self._listed(reaction, "source")),
            ("effects", self._listed(reaction, "effect")),
            ("deadline", "" if late is None else time_text(late)),
            ("if missed", _function_name(reaction.handler)),
        )
        shown = "" if late is None else f"deadline {time_text(late)}"
        loop = self._loops.has(self._loops.reaction(reaction.id))
        self._item("reaction", reaction, "reactions", shown, facts, number, loop=loop)

    def _listed(self, reaction: ReactionNode, role: str) -> str:
        """Return the elements in one role of a signature, as the class writes them."""
        program = self._program
        names = []
        if role == "trigger":
            names += [name for name, on in _occasions(reaction) if on]
            names += [program.timers[t].name for t in reaction.trigger_timers]
        for port in getattr(reaction, f"{role}_ports"):
            node = program.ports[port]
            child = program.reactors[node.reactor].name
            own = node.reactor == reaction.reactor
            names.append(node.name if own else f"{_INDEX.sub('', child)}.{node.name}")
        if role != "source":
            actions = getattr(reaction, f"{role}_actions")
            names += [program.actions[a].name for a in actions]
        if role == "effect":
            names += [f"{e} {program.modes[m].name}" for m, e in reaction.effect_modes]
            names += [program.watchdogs[w].name for w in reaction.effect_watchdogs]
        return ", ".join(dict.fromkeys(names))

    # -- edges ------------------------------------------------------------------------

    def _edge(
        self,
        kind: EdgeKind,
        source: int,
        target: int,
        where: Position,
        *,
        shown: str = "",
        late: bool = False,
        physical: bool = False,
        loop: bool = False,
        facts: Facts = (),
    ) -> None:
        self._edges.append(
            Edge(
                id=len(self._edges),
                kind=kind,
                source=source,
                target=target,
                shown=shown,
                late=late,
                physical=physical,
                loop=loop,
                facts=tuple((name, text) for name, text in facts if text),
                where=self._where(where),
            )
        )

    def _add_signature(self, reaction: ReactionNode) -> None:
        items, loops = self._item_of, self._loops
        me, where = items["reactions"][reaction.id], reaction.where
        node = loops.reaction(reaction.id)

        def loop(port: int) -> bool:
            channels = self._program.ports[port].channels
            return any(loops.joins(channel, node) for channel in channels)

        for name, on in _occasions(reaction):
            if on:
                self._edge("trigger", self._occasion(reaction, name), me, where)
        for timer in reaction.trigger_timers:
            self._edge("trigger", items["timers"][timer], me, where)
        for action in reaction.trigger_actions:
            self._edge("trigger", items["actions"][action], me, where)
        for port in reaction.trigger_ports:
            self._edge("trigger", items["ports"][port], me, where, loop=loop(port))
        for port in reaction.source_ports:
            self._edge("source", items["ports"][port], me, where, loop=loop(port))
        for port in reaction.effect_ports:
            self._edge("effect", me, items["ports"][port], where, loop=loop(port))
        for action in reaction.effect_actions:
            self._edge("effect", me, items["actions"][action], where)
        for dog in reaction.effect_watchdogs:
            self._edge("effect", me, items["watchdogs"][dog], where)
        for mode, entry in reaction.effect_modes:
            self._edge("transition", me, items["modes"][mode], where, shown=entry)
        before = items["reactions"].get(reaction.id - 1)
        if reaction.index and before is not None and loops.joins(node - 1, node):
            shown = "comes before"
            self._edge("order", before, me, where, shown=shown, loop=True)

    def _occasion(self, reaction: ReactionNode, name: Any) -> int:  # noqa: ANN401
        """Return the item of startup, shutdown or reset where a reaction is."""
        key = reaction.reactor, name, reaction.scope
        found = self._occasions.get(key)
        if found is None:
            found = self._occasions[key] = len(self._items)
            path = f"{self._program.reactors[reaction.reactor].path}.{name}"
            box, mode = self._box_of[reaction.reactor], self._mode(reaction)
            self._items.append(
                Item(
                    id=found,
                    box=box,
                    kind=name,
                    name=name,
                    path=path,
                    shown="",
                    number=None,
                    mode=mode,
                    loop=False,
                    facts=(),
                    where="",
                )
            )
        return found

    def _add_connections(self) -> None:
        """Add one edge for all channels that one statement joins at two ports."""
        program, ports = self._program, self._program.channel_port
        groups: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        first: dict[tuple[Any, ...], ConnectionNode | ReactionNode] = {}
        for c in program.connections:
            key = ports[c.source], ports[c.target], c.delay, c.physical, c.where
            groups.setdefault(key, []).append((c.source, c.target))
            first.setdefault(key, c)
        for r in program.reactions:
            if r.forward is not None:  # a connection that holds only in a mode
                source, target = r.forward
                key = ports[source], ports[target], None, False, r.where
                groups.setdefault(key, []).append(r.forward)
                first.setdefault(key, r)
        fans: dict[tuple[Position, int], int] = defaultdict(int)
        for (*_, where), pairs in groups.items():
            for source, _target in pairs:
                fans[where, source] += 1
        for key, pairs in groups.items():
            source, target, delay, physical, where = key
            scope = first[key].scope
            fan = any(fans[where, channel] > 1 for channel, _ in pairs)
            words = ["physical"] if physical else []
            words += [] if delay is None else [f"after {time_text(delay)}"]
            mode = "" if scope == NO_SCOPE else program.modes[scope].name
            self._edge(
                "connection",
                self._item_of["ports"][source],
                self._item_of["ports"][target],
                where,
                shown=" ".join(words),
                late=bool(words),
                physical=physical,
                loop=not words and any(self._loops.joins(*pair) for pair in pairs),
                facts=(
                    ("channels", str(len(pairs)) if len(pairs) > 1 else ""),
                    ("broadcast", "yes" if fan else ""),
                    ("in mode", mode),
                ),
            )


def _occasions(reaction: ReactionNode) -> list[tuple[str, bool]]:
    return [
        ("startup", reaction.on_startup),
        ("shutdown", reaction.on_shutdown),
        ("reset", reaction.on_reset),
    ]


def _without_index(name: str) -> str:
    return name.rpartition("[")[0]


def _function_name(function: object) -> str:
    return str(getattr(function, "__name__", "")) if function is not None else ""
