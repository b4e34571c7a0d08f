# SPDX-License-Identifier: Apache-2.0
"""The part of a Scene that a static diagram shows: banks folded, reactors closed.

A folded bank is drawn as its first member, which stands for all. A closed reactor shows
its ports and not its content. (``model.js`` does the same for the interactive page.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.diagram.scene import Edge, Item, Scene


@dataclass(frozen=True)
class Fold:
    """The visible part of a Scene.

    Attributes:
        scene: The whole scene.
        boxes: Reactors that are drawn, parents first.
        opened: Those of them that show their content.
        unfolded: Whether all members of banks are drawn.
        edges: Between visible items; parallel ones are merged.
    """

    scene: Scene
    boxes: tuple[int, ...]
    opened: frozenset[int]
    unfolded: bool
    edges: tuple[Edge, ...]

    def parent(self, box: int) -> int:
        """Return the reactor around a reactor, past the bank that it is in."""
        above = self.scene.boxes[box].parent
        if above >= 0 and self.scene.boxes[above].kind == "bank":
            above = self.scene.boxes[above].parent
        return above

    def bank(self, box: int) -> int | None:
        """Return the bank that a reactor is a member of."""
        above = self.scene.boxes[box].parent
        is_bank = above >= 0 and self.scene.boxes[above].kind == "bank"
        return above if is_bank else None

    def stands_for(self, box: int) -> int:
        """Return how many members of a bank a reactor stands for."""
        bank = self.bank(box)
        if bank is None or self.unfolded:
            return 1
        members = self.scene.inside[bank]
        return sum(_stand_in(self.scene, each) == box for each in members)

    def name(self, box: int) -> str:
        """Return the name to show; that of the bank if it stands for it."""
        bank = self.bank(box)
        if bank is None or self.unfolded:
            return self.scene.boxes[box].name
        return self.scene.boxes[bank].name

    def mode(self, box: int) -> int | None:
        """Return the mode, an item, that contains a reactor."""
        bank = self.bank(box)
        return self.scene.boxes[box if bank is None else bank].mode

    def regions(self, box: int) -> dict[int | None, list[int]]:
        """Return the reactors in one, outside of its modes, by where they run.

        Those that run where the reactor itself does are under None.
        """
        boxes = self.scene.boxes
        found: dict[int | None, list[int]] = {None: []}
        for kid in self.inside[box]:
            if self.mode(kid) is None:
                at = boxes[kid].federate
                own = at == boxes[box].federate
                found.setdefault(None if own else at, []).append(kid)
        return found

    def shows_inside(self, box: int) -> bool:
        """Return whether a reactor is open and has visible content."""
        return box in self._with_contents

    @cached_property
    def _with_contents(self) -> frozenset[int]:
        items = self.scene.items
        full = {
            box
            for box in self.boxes
            if self.inside[box]
            or any(not is_port(items[item]) for item in self.scene.items_of[box])
        }
        for edge in self.edges:  # from an input straight to an output
            begin, end = items[edge.source], items[edge.target]
            if begin.box == end.box and begin.kind == "input" and is_port(end):
                full.add(begin.box)
        return self.opened & full

    @cached_property
    def inside(self) -> dict[int, list[int]]:
        """For each reactor that is drawn, those in it."""
        found: dict[int, list[int]] = {box: [] for box in self.boxes}
        for box in self.boxes[1:]:
            found[self.parent(box)].append(box)
        return found


def fold(scene: Scene, *, depth: int | None = None, expand_banks: bool = False) -> Fold:
    """Return the visible part.

    Args:
        scene: The whole scene.
        depth: How many levels of reactors are open; None: all.
        expand_banks: Whether all members of banks are drawn.
    """
    like: list[int] = []  # box -> the one that stands for it, or -1
    deep: list[int] = []
    by_name: list[dict[str, int]] = [{} for _ in scene.boxes]
    for box in scene.boxes:
        if box.parent < 0:
            like.append(box.id)
            deep.append(0)
            continue
        by_name[box.parent][box.name] = box.id
        in_bank = scene.boxes[box.parent].kind == "bank"
        deep.append(deep[box.parent] + (box.kind == "reactor"))
        above = like[box.parent]
        if above < 0:
            like.append(-1)
        elif in_bank and not expand_banks:
            like.append(_stand_in(scene, box.id))
        elif above == box.parent:
            like.append(box.id)
        else:
            like.append(by_name[above].get(box.name, -1))
    closed = {b.id for b in scene.boxes if depth is not None and deep[b.id] >= depth}
    drawn: set[int] = set()
    for box in scene.boxes:
        above = box.parent
        if above < 0 or (above in drawn and like[box.id] == box.id):
            if above >= 0 and above in closed and scene.boxes[above].kind != "bank":
                continue
            drawn.add(box.id)
    boxes = [b.id for b in scene.boxes if b.id in drawn and b.kind == "reactor"]
    return Fold(
        scene,
        tuple(boxes),
        frozenset(boxes) - closed,
        expand_banks,
        _edges(scene, like, drawn, closed),
    )


def _edges(
    scene: Scene, like: list[int], drawn: set[int], closed: set[int]
) -> tuple[Edge, ...]:
    by_key = [{_key(scene, item): item for item in items} for items in scene.items_of]
    visible: list[int] = []
    for item in scene.items:
        box = like[item.box]
        found = -1
        if box >= 0 and box in drawn:
            found = by_key[box].get(_key(scene, item.id), -1)
            if box in closed and item.kind not in ("input", "output"):
                found = -1
        visible.append(found)
    merged: dict[tuple[str, int, int, str], Edge] = {}
    for edge in scene.edges:
        source, target = visible[edge.source], visible[edge.target]
        if source < 0 or target < 0:
            continue
        begin, end = scene.items[source], scene.items[target]
        if begin.box == end.box and begin.kind == "input" and begin.box in closed:
            continue  # from an input straight to an output: that is inside
        key = edge.kind, source, target, edge.shown
        other = merged.get(key)
        shown = other or edge
        merged[key] = replace(
            shown,
            source=source,
            target=target,
            loop=edge.loop or shown.loop,
            crosses=edge.crosses or shown.crosses,
        )
    return tuple(merged.values())


def _stand_in(scene: Scene, member: int) -> int:
    """Return the member that is drawn for a member of a folded bank."""
    box = scene.boxes[member]
    return scene.inside[box.parent][0] if box.like is None else box.like


def is_port(item: Item) -> bool:
    """Return whether an item is on the edge of its reactor."""
    return item.kind in ("input", "output")


def _key(scene: Scene, item: int) -> tuple[str, str, str]:
    node = scene.items[item]
    mode = "" if node.mode is None else scene.items[node.mode].name
    return node.kind, mode, node.name
