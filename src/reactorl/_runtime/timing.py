# SPDX-License-Identifier: Apache-2.0
"""Timing of a run: from the core's numbers to names."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from reactorl.tag import Tag
from reactorl.trace.timing import (
    Invocation,
    ReactionTiming,
    Structure,
    TagTiming,
    Timing,
    Wait,
    WaitKind,
    WaitTiming,
    WorkerTiming,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl._program.program import Program

Numbers: TypeAlias = tuple[bytes, bytes, bytes, list[bytes], bytes, bytes]
"""What the core measured; ``Session.timing`` documents the format."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one core measured; see ``Timing``. Times count from an origin.

    Attributes:
        begin: When the first tag began.
        end: When the last one ended.
        waits: Sums of waits; empty unless it was a federate.
        recent_waits: The last of them.
    """

    begin: int
    end: int
    reactions: tuple[ReactionTiming, ...]
    workers: tuple[WorkerTiming, ...]
    tags: int
    lag: int
    longest_lag: int
    recent_tags: tuple[TagTiming, ...]
    recent: tuple[Invocation, ...]
    waits: tuple[WaitTiming, ...]
    recent_waits: tuple[Wait, ...]


def structure_of(program: Program) -> Structure:
    """Return the reactions of a program and their order."""
    order = program.order
    return Structure(
        reactions=tuple(program.reaction_name(r.id) for r in program.reactions),
        levels=tuple(order.level),
        after=tuple(order.downstream),
    )


def make_timing(program: Program, numbers: Numbers, *, fast: bool) -> Timing:
    """Return what the core measured in a run that is one process."""
    found = measured(numbers, began(numbers))
    return Timing(
        structure=structure_of(program),
        fast=fast,
        span=found.end,
        reactions=found.reactions,
        workers=found.workers,
        tags=found.tags,
        lag=found.lag,
        longest_lag=found.longest_lag,
        recent_tags=found.recent_tags,
        recent=found.recent,
    )


def began(numbers: Numbers) -> int:
    """Return when the first tag began, by the steady clock of the machine."""
    return array("q", numbers[2])[3]


def measured(numbers: Numbers, origin: int) -> Measured:
    """Return what the core measured, in times that count from ``origin``."""
    sums, works, tags, kept, wait_sums, waited = numbers
    workers = list(_rows(works, 3))
    count, lag, longest, began, ended, *_ = array("q", tags)
    invocations = [list(_rows(ran, 5)) for ran in kept]
    whole = _first_whole(workers, invocations)
    recent_tags: list[TagTiming] = []
    index: dict[int, int] = {}  # number of a tag -> where it is in recent_tags
    for number, time, step, begin, end, late in _rows(tags, 6, start=5):
        if number >= whole:
            index[number] = len(recent_tags)
            found = TagTiming(Tag(time, step), begin - origin, end - origin, late)
            recent_tags.append(found)
    recent = [
        Invocation(
            index[number],
            reaction,
            worker,
            begin - origin,
            end - origin,
            bool(missed),
        )
        for worker, rows in enumerate(invocations)
        for number, reaction, missed, begin, end in rows
        if number in index
    ]
    recent.sort(key=lambda ran: (ran.begin, ran.worker, ran.end))
    return Measured(
        begin=began - origin,
        end=ended - origin,
        reactions=tuple(ReactionTiming(*row) for row in _rows(sums, 4)),
        workers=tuple(WorkerTiming(runs, busy) for runs, busy, _ in workers),
        tags=count,
        lag=lag,
        longest_lag=longest,
        recent_tags=tuple(recent_tags),
        recent=tuple(recent),
        waits=tuple(
            WaitTiming(peer, WaitKind(kind), *rest)
            for peer, kind, *rest in _rows(wait_sums, 5)
        ),
        recent_waits=tuple(
            Wait(peer, WaitKind(kind), Tag(time, step), begin - origin, end - origin)
            for peer, kind, time, step, begin, end in _rows(waited, 6)
        ),
    )


def _first_whole(
    workers: Sequence[Sequence[int]], invocations: Sequence[Sequence[Sequence[int]]]
) -> int:
    """Return the number of the first tag whose invocations are all still kept."""
    oldest = [
        rows[0][0] + 1
        for (_, _, forgotten), rows in zip(workers, invocations, strict=True)
        if forgotten and rows
    ]
    return max(oldest, default=0)


def _rows(numbers: bytes, width: int, start: int = 0) -> Iterator[tuple[int, ...]]:
    found = array("q", numbers)
    columns = [found[start + k :: width] for k in range(width)]
    return zip(*columns, strict=False)
