# SPDX-License-Identifier: Apache-2.0
"""Precedence: which reactions must run before which, at any tag."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl.errors import CausalityError, Hop
from reactorl.tag import FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl._program.errors import ErrorCollector
    from reactorl._program.program import Program, ReactionNode


@dataclass(frozen=True, slots=True)
class Precedence:
    """The order of reactions, fixed by declarations alone.

    Attributes:
        level: Length of the longest path that ends at each reaction.
        inferred: The earliest deadline of a reaction and all downstream of it, in
            nanoseconds; ``FOREVER`` if none. For priority only.
        rank: Position in the order by (inferred deadline, level); equals the level in
            a program without deadlines. Running by rank is a valid order.
        downstream: For each reaction, those that directly come after it, ascending.
    """

    level: list[int]
    inferred: list[int]
    rank: list[int]
    downstream: list[tuple[int, ...]]

    @property
    def upstream(self) -> list[tuple[int, ...]]:
        """For each reaction, those that directly come before it, ascending."""
        before: list[list[int]] = [[] for _ in self.downstream]
        for reaction, later in enumerate(self.downstream):
            for other in later:
                before[other].append(reaction)
        return [tuple(others) for others in before]


def precedence(
    program: Program, roots: Sequence[int], errors: ErrorCollector
) -> Precedence | None:
    """Return the precedence of a program's reactions.

    Reaction a comes before b if a is written just before b in the same reactor, or if
    a may set a port that b may read at the same tag, directly or through connections
    without delay. Reactions in different modes of one reactor never run at the same
    tag, so ports do not order them.

    Args:
        program: The program.
        roots: Its channels' storage, from ``routes.roots``.
        errors: Causality loops are added here; there is no precedence then.
    """
    upstream = _upstream(program, roots)
    after: list[list[int]] = [[] for _ in upstream]
    for reaction, before in enumerate(upstream):
        for other in before:
            after[other].append(reaction)
    downstream = [tuple(others) if others else () for others in after]

    order, level = _sort(upstream, downstream)
    if len(order) < len(upstream):
        stuck = set(range(len(upstream))).difference(order)
        for cycle in _cycles(upstream, downstream, stuck):
            errors.add(CausalityError(_hops(program, roots, cycle)))
        return None

    deadlines = [r.deadline for r in program.reactions]
    if all(deadline is None for deadline in deadlines):
        return Precedence(level, [FOREVER] * len(level), level, downstream)
    inferred = [FOREVER if d is None else d for d in deadlines]
    for reaction in reversed(order):
        for other in downstream[reaction]:
            inferred[reaction] = min(inferred[reaction], inferred[other])
    keys = list(zip(inferred, level, strict=True))
    dense = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return Precedence(level, inferred, [dense[k] for k in keys], downstream)


def _read_channels(program: Program, reaction: ReactionNode) -> list[int]:
    ports = program.ports
    return [
        channel
        for listed in (reaction.trigger_ports, reaction.source_ports)
        for port in listed
        for channel in ports[port].channels
    ]


def _exclusive(program: Program, one: ReactionNode, other: ReactionNode) -> bool:
    """Whether two reactions are in different modes of one reactor instance."""
    if one.reactor != other.reactor or one.scope == other.scope:
        return False
    outside = program.reactors[one.reactor].scope
    return outside not in (one.scope, other.scope)


def _upstream(program: Program, roots: Sequence[int]) -> list[tuple[int, ...]]:
    reactions = program.reactions
    writers: dict[int, list[int]] = {}
    for reaction in reactions:
        for port in reaction.effect_ports:
            for channel in program.ports[port].channels:
                writers.setdefault(roots[channel], []).append(reaction.id)
    upstream: list[tuple[int, ...]] = []
    for reaction in reactions:
        before: set[int] = set()
        for channel in _read_channels(program, reaction):
            before.update(writers.get(roots[channel], ()))
        if program.modes:
            before = {
                other
                for other in before
                if not _exclusive(program, reactions[other], reaction)
            }
        if reaction.index > 0:  # reactions of a reactor have ids in a row
            before.add(reaction.id - 1)
        upstream.append(tuple(sorted(before)) if before else ())
    return upstream


def _sort(
    upstream: list[tuple[int, ...]], downstream: list[tuple[int, ...]]
) -> tuple[list[int], list[int]]:
    """Return reactions in a valid order, and levels; short if there is a loop."""
    waiting = [len(before) for before in upstream]
    level = [0] * len(upstream)
    order = [reaction for reaction, count in enumerate(waiting) if count == 0]
    for reaction in order:  # grows while it is read
        below = level[reaction] + 1
        for other in downstream[reaction]:
            level[other] = max(level[other], below)
            waiting[other] -= 1
            if waiting[other] == 0:
                order.append(other)
    return order, level


def _cycles(
    upstream: list[tuple[int, ...]],
    downstream: list[tuple[int, ...]],
    stuck: set[int],
) -> Iterator[list[int]]:
    """Yield loops, in order, that have no reaction in common.

    Without the reactions of the loops found so far, some are no longer stuck; the rest
    is part of, or waits for, another loop.
    """
    while stuck:
        cycle = _cycle(upstream, downstream, stuck)
        yield cycle
        stuck = _still_stuck(upstream, downstream, stuck.difference(cycle))


def _still_stuck(
    upstream: list[tuple[int, ...]],
    downstream: list[tuple[int, ...]],
    among: set[int],
) -> set[int]:
    """Return which of some reactions wait for a loop among themselves."""
    waiting = {r: sum(other in among for other in upstream[r]) for r in among}
    free = [r for r, count in waiting.items() if count == 0]
    left = set(among)
    for reaction in free:  # grows while it is read
        left.discard(reaction)
        for other in downstream[reaction]:
            if other in left:
                waiting[other] -= 1
                if waiting[other] == 0:
                    free.append(other)
    return left


def _cycle(
    upstream: list[tuple[int, ...]],
    downstream: list[tuple[int, ...]],
    stuck: set[int],
) -> list[int]:
    """Return a shortest loop through one of the stuck reactions, in order."""
    at = min(stuck)
    seen: set[int] = set()
    while at not in seen:  # every stuck reaction waits for a stuck one
        seen.add(at)
        at = next(other for other in upstream[at] if other in stuck)
    came: dict[int, int] = {}
    queue = deque([at])
    while at not in came:
        here = queue.popleft()
        for other in downstream[here]:
            if other in stuck and other not in came:
                came[other] = here
                queue.append(other)
    path = [at]
    while (previous := came[path[-1]]) != at:
        path.append(previous)
    path.append(at)
    loop = path[:0:-1]  # from ``at`` forward, without its repetition
    start = loop.index(min(loop))
    return loop[start:] + loop[:start]


def _hops(program: Program, roots: Sequence[int], cycle: list[int]) -> tuple[Hop, ...]:
    hops = []
    for index, one in enumerate(cycle):
        other = cycle[(index + 1) % len(cycle)]
        node = program.reactions[one]
        name = program.reaction_name(one)
        joint = _joint(program, roots, node, program.reactions[other])
        if joint is None:
            hops.append(Hop(name, "", program.reaction_name(other), node.where))
            continue
        source, target = joint
        source_name = program.channel_name(source)
        hops.append(Hop(name, source_name, program.channel_name(target), node.where))
    return tuple(hops)


def _joint(
    program: Program, roots: Sequence[int], one: ReactionNode, other: ReactionNode
) -> tuple[int, int] | None:
    """Return a channel that ``one`` sets and the one that ``other`` reads it by."""
    if _exclusive(program, one, other):
        return None
    read = {roots[c]: c for c in reversed(_read_channels(program, other))}
    for port in one.effect_ports:
        for channel in program.ports[port].channels:
            if roots[channel] in read:
                return channel, read[roots[channel]]
    return None
