# SPDX-License-Identifier: Apache-2.0
"""Storage of channels and order of reactions, computed by definition, not for speed.

Written from the rules of the language alone. It shares no code with the package's own
routes and levels, so that an error there cannot hide here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl._program.program import NO_SCOPE
from reactorl.tag import FOREVER

if TYPE_CHECKING:
    from reactorl._program.program import ConnectionNode, Program, ReactionNode


def roots(program: Program) -> list[int]:
    """Return, for each channel, the channel that holds its value.

    An input is no storage of its own: it is a view of what drives it through
    connections without delay. What a delay drives holds its own value.
    """
    driver = {
        connection.target: connection.source
        for connection in program.connections
        if connection.stage is None
    }
    found = []
    for start in range(len(program.channel_port)):
        channel = start
        while channel in driver:
            channel = driver[channel]
        found.append(channel)
    return found


def stages(program: Program) -> dict[int, list[ConnectionNode]]:
    """Return the connections of each delay stage, by stage id in ascending order."""
    found: dict[int, list[ConnectionNode]] = {}
    for connection in program.connections:
        if connection.stage is not None:
            found.setdefault(connection.stage, []).append(connection)
    return dict(sorted(found.items()))


def stage_name(program: Program, connection: ConnectionNode) -> str:
    """Return how traces and recordings name the events of a delay stage."""
    arrow = "~>" if connection.physical else "after"
    return f"{program.channel_name(connection.source)} {arrow} {connection.delay or 0}"


class Precedence:
    """The precedence graph, with everything that follows from it."""

    def __init__(self, program: Program, root: list[int]) -> None:
        self._program = program
        self._root = root
        reactions = program.reactions
        self.after: list[set[int]] = [
            {b.id for b in reactions if a is not b and self._must_precede(a, b)}
            for a in reactions
        ]
        """Reaction id -> those that must run later, by one rule or the other."""
        self.reachable: list[set[int]] = [self._reach(a.id) for a in reactions]
        self.level: list[int] = self._levels()
        self.deadline: list[int] = [self._inferred(a) for a in reactions]

    def order(self, reaction: int) -> tuple[int, int, int]:
        """Return the key by which a trace lists the reactions of a tag."""
        return self.deadline[reaction], self.level[reaction], reaction

    def _must_precede(self, a: ReactionNode, b: ReactionNode) -> bool:
        if a.reactor == b.reactor and a.index < b.index:
            return True
        if exclusive(self._program, a, b):
            return False
        written = self._channels(a.effect_ports)
        read = self._channels((*b.trigger_ports, *b.source_ports))
        return not written.isdisjoint(read)

    def _channels(self, ports: tuple[int, ...]) -> set[int]:
        return {
            self._root[channel]
            for port in ports
            for channel in self._program.ports[port].channels
        }

    def _reach(self, start: int) -> set[int]:
        found: set[int] = set()
        todo = [start]
        while todo:
            for later in self.after[todo.pop()]:
                if later not in found:
                    found.add(later)
                    todo.append(later)
        return found

    def _levels(self) -> list[int]:
        """Return the length of the longest path to each reaction, by raising it."""
        level = [0] * len(self.after)
        for _ in self.after:
            raised = False
            for a, later in enumerate(self.after):
                for b in later:
                    if level[b] <= level[a]:
                        level[b] = level[a] + 1
                        raised = True
            if not raised:
                return level
        assert not any(self.after), "the precedence graph has a cycle"
        return level

    def _inferred(self, reaction: ReactionNode) -> int:
        """Return the earliest deadline of a reaction and of all that wait for it."""
        waiting = [
            self._program.reactions[later] for later in self.reachable[reaction.id]
        ]
        deadlines = [node.deadline for node in (reaction, *waiting)]
        return min((d for d in deadlines if d is not None), default=FOREVER)


def scope_chain(program: Program, scope: int) -> list[int]:
    """Return the modes that ``scope`` lies in, innermost first."""
    chain = []
    while scope != NO_SCOPE:
        chain.append(scope)
        scope = program.modes[scope].scope
    return chain


def exclusive(program: Program, a: ReactionNode, b: ReactionNode) -> bool:
    """Whether two reactions belong to different modes of one reactor instance."""
    around = program.reactors[a.reactor].scope
    in_modes = around not in (a.scope, b.scope)
    return a.reactor == b.reactor and in_modes and a.scope != b.scope
