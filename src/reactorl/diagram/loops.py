# SPDX-License-Identifier: Apache-2.0
"""The channels and reactions of a program that are in causality loops.

A loop is a strongly connected component of the graph that leads from reactions to the
channels they set, along connections without delay to the reactions that read them, and
from each reaction to the next one of its reactor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.errors import CausalityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._program.program import Program


class Loops:
    """Where the loops are; made for programs that are known to have some.

    Args:
        program: The program.
        problems: The errors of its loops.
    """

    def __init__(self, program: Program, problems: Sequence[Exception]) -> None:
        self._channels = len(program.channel_port)
        self._part: dict[int, int] = {}
        if not problems:
            return
        named = {
            hop.reaction
            for problem in problems
            if isinstance(problem, CausalityError)
            for hop in problem.cycle
        }
        for number, part in enumerate(_components(_graph(program))):
            reactions = [node - self._channels for node in part]
            names = {program.reaction_name(r) for r in reactions if r >= 0}
            # Reactions in exclusive modes look like a loop and are not one.
            if not names or names & named:
                self._part |= dict.fromkeys(part, number)

    def joins(self, one: int, other: int) -> bool:
        """Return whether two nodes, of which one leads to the other, are in a loop."""
        part = self._part.get(one)
        return part is not None and part == self._part.get(other)

    def reaction(self, reaction: int) -> int:
        """Return the node of a reaction; that of a channel is its id."""
        return self._channels + reaction

    def has(self, node: int) -> bool:
        """Return whether a node is in a loop."""
        return node in self._part


def _graph(program: Program) -> list[list[int]]:
    base = len(program.channel_port)
    ahead: list[list[int]] = [[] for _ in range(base + len(program.reactions))]
    for connection in program.connections:
        if connection.delay is None and not connection.physical:
            ahead[connection.source].append(connection.target)
    for reaction in program.reactions:
        node = base + reaction.id
        for port in (*reaction.trigger_ports, *reaction.source_ports):
            for channel in program.ports[port].channels:
                ahead[channel].append(node)
        for port in reaction.effect_ports:
            ahead[node].extend(program.ports[port].channels)
        if reaction.index > 0:  # reactions of a reactor have ids in a row
            ahead[node - 1].append(node)
    return ahead


def _components(ahead: list[list[int]]) -> list[list[int]]:
    """Return the strongly connected components of more than one node (Tarjan)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    found = []
    for root in range(len(ahead)):
        if root in order:
            continue
        work = [(root, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                order[node] = low[node] = len(order)
                path.append(node)
                on_path.add(node)
            descended = False
            for index in range(at, len(ahead[node])):
                other = ahead[node][index]
                if other not in order:
                    work += [(node, index + 1), (other, 0)]
                    descended = True
                    break
                if other in on_path:
                    low[node] = min(low[node], order[other])
            if descended:
                continue
            if work:
                above = work[-1][0]
                low[above] = min(low[above], low[node])
            if low[node] == order[node]:
                part: list[int] = []
                while not part or part[-1] != node:
                    part.append(path.pop())
                    on_path.discard(part[-1])
                if len(part) > 1:
                    found.append(sorted(part))
    return sorted(found)
