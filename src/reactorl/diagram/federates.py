# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a Scene run, if the program is cut into federates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._program.cut import Cut
    from reactorl._program.program import PortNode, Program
    from reactorl.diagram.scene import Box, Edge, Scene

MOST_NAMED: Final = 3
"""How many federates are listed by name; of more, the number is shown."""


@dataclass(frozen=True, slots=True)
class Colour:
    """The colours of one federate."""

    line: str
    fill: str


COLOURS: Final = (
    Colour("#2f6fb7", "#e6f0fa"),
    Colour("#2e8b57", "#e5f4eb"),
    Colour("#b7790f", "#faf1df"),
    Colour("#8a4fb5", "#f3eafa"),
    Colour("#128a92", "#e0f4f5"),
    Colour("#b8447e", "#fae8f1"),
    Colour("#6f7d14", "#f2f4dc"),
    Colour("#8a5a35", "#f5ece4"),
)
"""Lines, and backgrounds on which text is readable; ``diagram.css`` has them, too."""

_Shape: TypeAlias = "tuple[str, int | None, tuple[_Shape, ...]]"


def colour(federate: int) -> Colour:
    """Return the colours of a federate; with more than eight, colours come again."""
    return COLOURS[federate % len(COLOURS)]


def with_federates(scene: Scene, program: Program, cut: Cut) -> Scene:
    """Return the scene of a program with the federates of a cut."""
    return _Marking(scene, program, cut).scene()


class _Marking:
    def __init__(self, scene: Scene, program: Program, cut: Cut) -> None:
        self._scene = scene
        self._program = program
        self._cut = cut
        reactors = {node.path: node.id for node in program.reactors}
        # By box; a bank is not a reactor.
        self._reactor = [
            reactors[box.path] if box.kind == "reactor" else None for box in scene.boxes
        ]
        # By full names of ports: the storage of one, and of what joins two.
        self._ports = {self._path(port): port.channels for port in program.ports}
        self._joined: dict[tuple[str, str], list[int]] = {}
        for connection in program.connections:
            ends = connection.source, connection.target
            source, target = (program.ports[program.channel_port[end]] for end in ends)
            names = self._path(source), self._path(target)
            self._joined.setdefault(names, []).extend(ends)
        self._sent = self._all_sent()

    def _path(self, port: PortNode) -> str:
        return f"{self._program.reactors[port.reactor].path}.{port.name}"

    def scene(self) -> Scene:
        boxes = [
            replace(box, federate=self._federate(box.id), copies=self._copies(box))
            for box in self._scene.boxes
        ]
        likes = self._likes(boxes)
        boxes = [replace(box, like=likes.get(box.id)) for box in boxes]
        edges = tuple(self._marked(edge) for edge in self._scene.edges)
        return replace(
            self._scene, boxes=tuple(boxes), edges=edges, federates=self._cut.names
        )

    def _federate(self, box: int) -> int | None:
        """Return where a reactor runs; of a bank, where all members do."""
        reactor = self._reactor[box]
        if reactor is not None:
            return self._cut.where[reactor]
        members = {self._federate(each) for each in self._scene.inside[box]}
        return members.pop() if len(members) == 1 else None

    def _copies(self, box: Box) -> str:
        reactor = self._reactor[box.id]
        if reactor is None:
            return ""
        home, copies = self._cut.where[reactor], self._cut.copies[reactor]
        others = [self._cut.names[each] for each in copies if each != home]
        if len(others) > MOST_NAMED:
            return f"{len(others)} federates"
        return ", ".join(others)

    # -- banks ------------------------------------------------------------------------

    def _likes(self, boxes: list[Box]) -> dict[int, int]:
        """Return which member is drawn for each: one with the same placement inside."""
        shapes: list[_Shape] = [("", None, ())] * len(boxes)
        for box in reversed(boxes):  # parents come before what they contain
            kids = tuple(shapes[kid] for kid in self._scene.inside[box.id])
            in_bank = box.parent >= 0 and boxes[box.parent].kind == "bank"
            name = "" if in_bank else box.name
            shapes[box.id] = name, box.federate, kids
        likes = {}
        for bank in boxes:
            if bank.kind == "bank":
                first: dict[_Shape, int] = {}
                members = self._scene.inside[bank.id]
                for member in members:
                    like = first.setdefault(shapes[member], member)
                    if like != members[0]:
                        likes[member] = like
        return likes

    # -- edges ------------------------------------------------------------------------

    def _all_sent(self) -> dict[int, set[tuple[int, int]]]:
        """Return from where to where values go over links, by their storage."""
        roots = self._program.roots
        targets: dict[int | None, list[int]] = {}
        for connection in self._program.connections:
            targets.setdefault(connection.stage, []).append(roots[connection.target])
        sent: dict[int, set[tuple[int, int]]] = {}
        for link in self._cut.links:
            stages = (*link.stages, *link.physical)
            late = [root for stage in stages for root in targets[stage]]
            for root in (*(roots[slot.channel] for slot in link.slots), *late):
                sent.setdefault(root, set()).add((link.source, link.target))
        return sent

    def _copies_at(self, item: int) -> tuple[int, ...]:
        """Return the federates that run the reactor with an item."""
        reactor = self._reactor[self._scene.items[item].box]
        assert reactor is not None  # banks have no items
        return self._cut.copies[reactor]

    def _marked(self, edge: Edge) -> Edge:
        """Mark an edge with which values come to a federate from another one."""
        source, target = self._copies_at(edge.source), self._copies_at(edge.target)
        one, other = (self._scene.items[end].path for end in (edge.source, edge.target))
        channels: Sequence[int] = self._joined.get((one, other), ())
        if edge.kind != "connection":
            channels = self._ports.get(one) or self._ports.get(other) or ()
        links = {
            link
            for channel in channels
            for link in self._sent.get(self._program.roots[channel], ())
            if link[1] in target and link[1] not in source
        }
        if not links:
            return edge
        names = [
            f"{self._cut.names[start]} → {self._cut.names[end]}"
            for start, end in sorted(links)
        ]
        text = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} links"
        return replace(edge, crosses=True, facts=(*edge.facts, ("crosses", text)))
