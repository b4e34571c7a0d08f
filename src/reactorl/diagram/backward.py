# SPDX-License-Identifier: Apache-2.0
"""Feedback edges of a static diagram: those drawn against the flow, right to left.

Graphviz puts the target of an edge to the right of its source, and chooses itself which
edges of a cycle to reverse. It does not know that in programs cycles are closed by
delayed connections and by mode changes, and reverses others.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.diagram.fold import Fold


def backward(view: Fold) -> frozenset[int]:
    """Return the ids of the feedback edges.

    Edges without delay are never feedback. Of the others those are whose target already
    leads to their source. Where there is a choice, the element declared first is on the
    left.
    """
    leads: dict[str, list[str]] = defaultdict(list)
    for source, target in _within_modes(view):
        leads[source].append(target)
    weak = []
    for edge in view.edges:
        if edge.late or edge.kind == "transition":
            weak.append(edge)
        else:
            leads[_node(view, edge.source)].append(_node(view, edge.target))
    back = []
    for edge in sorted(weak, key=lambda edge: edge.source >= edge.target):
        source, target = _node(view, edge.source), _node(view, edge.target)
        if _reaches(leads, target, source):
            back.append(edge.id)
        else:
            leads[source].append(target)
    return frozenset(back)


def _node(view: Fold, item: int) -> str:
    """Return the node that stands for an item: itself, or its reactor.

    A value that arrives at one reaction of a reactor can leave by another at a later
    tag, through state. Modes are separate nodes, and so are the items of enclosing
    reactors: their reactions are often at both ends of a chain.
    """
    node = view.scene.items[item]
    alone = bool(view.inside[node.box]) or node.mode is not None or node.kind == "mode"
    return f"i{item}" if alone else f"b{node.box}"


def _within_modes(view: Fold) -> Iterator[tuple[str, str]]:
    """Yield each mode with its content: entering the mode comes before that."""
    for item in view.scene.items:
        if item.mode is not None and item.box in view.opened:
            yield f"i{item.mode}", f"i{item.id}"
    modes: dict[int, int] = {}  # box -> the mode around it, however far
    for box in view.boxes[1:]:
        mode = view.mode(box)
        around = modes.get(view.parent(box)) if mode is None else mode
        if around is None:
            continue
        modes[box] = around
        for inside in view.scene.items_of[box]:
            yield f"i{around}", _node(view, inside)


def _reaches(leads: dict[str, list[str]], begin: str, end: str) -> bool:
    seen = {begin}
    left = [begin]
    while left:
        node = left.pop()
        if node == end:
            return True
        for after in leads[node]:
            if after not in seen:
                seen.add(after)
                left.append(after)
    return False
