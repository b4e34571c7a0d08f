# SPDX-License-Identifier: Apache-2.0
"""The critical path: which chain of dependent reactions a tag had to wait for.

However many workers there are, a tag takes at least as long as its longest chain of
reactions that must run one after the other. All work divided by all longest chains is
an upper bound of the speed-up by any number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl.tag import Tag
    from reactorl.trace.timing import Invocation, Structure, Timing

MOST_STEPS: Final = 2_000_000
"""Upper bound of the work; older tags are left out beyond it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The longest chain of one tag."""

    tag: Tag
    work: int
    """Nanoseconds in all reactions of the tag."""
    length: int
    """Nanoseconds in those of the chain."""
    steps: tuple[tuple[int, int], ...]
    """The chain: (reaction id, nanoseconds), in order."""


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The longest chains of several tags."""

    tags: int
    work: int
    length: int
    longest: Chain
    """The longest of all."""
    shares: tuple[tuple[int, int], ...]
    """(reaction id, nanoseconds on longest chains), the largest first."""

    @property
    def speed_up(self) -> float:
        """How many times faster than one worker these tags could be."""
        return self.work / self.length if self.length else 1.0


def critical_path(timing: Timing) -> CriticalPath | None:
    """Return the critical path of the tags whose invocations were kept, the last ones.

    In very large programs only as many tags as can be analysed in a few seconds. None:
    no invocation was kept.
    """
    by_tag = sorted(timing.recent, key=lambda ran: -ran.tag)
    chains: list[Chain] = []
    steps = 0
    for tag, ran in groupby(by_tag, key=lambda ran: ran.tag):
        if steps > MOST_STEPS:
            break
        found, looked_at = _longest(timing.structure, list(ran))
        chains.append(Chain(timing.recent_tags[tag].tag, *found))
        steps += looked_at
    if not chains:
        return None
    shares: dict[int, int] = {}
    for chain in chains:
        for reaction, spent in chain.steps:
            shares[reaction] = shares.get(reaction, 0) + spent
    return CriticalPath(
        tags=len(chains),
        work=sum(chain.work for chain in chains),
        length=sum(chain.length for chain in chains),
        longest=max(chains, key=lambda chain: (chain.length, chain.tag)),
        shares=tuple(sorted(shares.items(), key=lambda share: (-share[1], share[0]))),
    )


def _longest(
    structure: Structure, ran: Iterable[Invocation]
) -> tuple[tuple[int, int, tuple[tuple[int, int], ...]], int]:
    """Return work, length and steps of a tag's longest chain, and the effort.

    Reactions that did not run cost nothing and still order those around them.
    """
    spent = {found.reaction: found.end - found.begin for found in ran}
    levels, after = structure.levels, structure.after
    done: dict[int, int] = {}  # reaction -> when it ends at the earliest
    before: dict[int, int] = {}  # reaction -> the one it waits for
    ready: dict[int, int] = dict.fromkeys(spent, 0)
    queue = sorted((levels[reaction], reaction) for reaction in spent)
    effort = len(queue)
    while queue:
        _, reaction = heappop(queue)
        done[reaction] = end = ready[reaction] + spent.get(reaction, 0)
        for later in after[reaction]:
            effort += 1
            if later not in ready:
                ready[later] = 0
                heappush(queue, (levels[later], later))
            if end > ready[later]:
                ready[later] = end
                before[later] = reaction
    at: int | None = max(spent, key=lambda reaction: (done[reaction], -reaction))
    length = done[at] if at is not None else 0
    steps: list[tuple[int, int]] = []
    while at is not None:
        if at in spent:
            steps.append((at, spent[at]))
        at = before.get(at)
    return (sum(spent.values()), length, tuple(reversed(steps))), effort
