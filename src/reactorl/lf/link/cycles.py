# SPDX-License-Identifier: Apache-2.0
"""Finds cycles of imports, inheritance and containment."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

N = TypeVar("N", bound=Hashable)
E = TypeVar("E")

_SHOWN = 8
"""Of a longer cycle only this many nodes are stored and shown."""


@dataclass(frozen=True)
class Cycle(Generic[N, E]):
    """A cycle in a graph.

    Attributes:
        nodes: Its first few nodes, in order.
        closing: The edge from the last node to the first.
        length: The number of nodes.
    """

    nodes: tuple[N, ...]
    closing: E
    length: int

    def show(self, name: Callable[[N], str], arrow: str) -> str:
        """Return the cycle as text."""
        shown = [name(node) for node in self.nodes]
        if self.length > len(self.nodes):
            shown.append("...")
        return arrow.join([*shown, shown[0]])


@dataclass(frozen=True)
class Walk(Generic[N, E]):
    """A depth-first walk through a graph.

    Attributes:
        order: All nodes in post-order.
        cycles: One for each edge that closes a cycle, in the order of the walk.
    """

    order: tuple[N, ...]
    cycles: tuple[Cycle[N, E], ...]


def walk(nodes: Iterable[N], edges: Callable[[N], Iterable[tuple[E, N]]]) -> Walk[N, E]:
    """Walk a graph from ``nodes``; not recursive, because it may be deep."""
    order: list[N] = []
    cycles: list[Cycle[N, E]] = []
    done: set[N] = set()
    for start in nodes:
        if start in done:
            continue
        path: list[N] = [start]
        depth: dict[N, int] = {start: 0}
        waiting: list[Iterator[tuple[E, N]]] = [iter(edges(start))]
        while waiting:
            for edge, node in waiting[-1]:
                if node in depth:
                    at = depth[node]
                    shown = tuple(path[at : at + _SHOWN])
                    cycles.append(Cycle(shown, edge, len(path) - at))
                elif node not in done:
                    depth[node] = len(path)
                    path.append(node)
                    waiting.append(iter(edges(node)))
                    break
            else:
                waiting.pop()
                node = path.pop()
                del depth[node]
                done.add(node)
                order.append(node)
    return Walk(tuple(order), tuple(cycles))
