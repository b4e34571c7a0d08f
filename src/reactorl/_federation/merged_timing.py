# SPDX-License-Identifier: Apache-2.0
"""The measured times of all federates, on one time axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl._runtime.timing import began, measured, structure_of
from reactorl.trace.timing import FederateTiming, Invocation, TagTiming, Timing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.timing import Measured, Numbers
    from reactorl.tag import Tag


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """How the steady clock of a process relates to that of the coordinator.

    Attributes:
        offset: Nanoseconds to add to its time.
        error: By how much that may be wrong; 0 on the same machine.
    """

    offset: int = 0
    error: int = 0


def merged_timing(
    program: Program,
    cut: Cut,
    numbers: Sequence[Numbers],
    offsets: Sequence[ClockOffset],
    *,
    fast: bool,
) -> Timing:
    """Return the times of a run.

    Sums of reactions are those of the federates that they are placed in, without
    replicas. A tag counts once, however many federates ran it; its lag is that of the
    federate that was latest.

    Args:
        program: The program.
        cut: How it was cut.
        numbers: What each federate measured, in the order of the federates.
        offsets: Their clocks.
        fast: Whether the run did not wait for the clock.
    """
    origin = min(
        began(each) + clock.offset for each, clock in zip(numbers, offsets, strict=True)
    )
    parts = [
        measured(each, origin - clock.offset)
        for each, clock in zip(numbers, offsets, strict=True)
    ]
    first = [sum(len(part.workers) for part in parts[:i]) for i in range(len(parts))]
    tags = _tags(parts)
    index = {found.tag: number for number, found in enumerate(tags)}
    recent = [
        Invocation(index[tag], ran.reaction, base + ran.worker, *ran[3:])
        for part, base in zip(parts, first, strict=True)
        for ran in part.recent
        if (tag := part.recent_tags[ran.tag].tag) in index
    ]
    recent.sort(key=lambda ran: (ran.begin, ran.worker, ran.end))
    whole = all(part.tags == len(part.recent_tags) for part in parts)
    return Timing(
        structure=structure_of(program),
        fast=fast,
        span=max(part.end for part in parts),
        reactions=tuple(
            parts[cut.where[node.reactor]].reactions[node.id]
            for node in program.reactions
        ),
        workers=tuple(worker for part in parts for worker in part.workers),
        tags=len(tags) if whole else max(part.tags for part in parts),
        lag=sum(tag.lag for tag in tags) if whole else max(part.lag for part in parts),
        longest_lag=max(part.longest_lag for part in parts),
        recent_tags=tuple(tags),
        recent=tuple(recent),
        federates=tuple(
            FederateTiming(
                name=name,
                first_worker=base,
                workers=len(part.workers),
                span=part.end - part.begin,
                offset=clock.offset,
                offset_error=clock.error,
                recent_tags=part.recent_tags,
                waits=part.waits,
                recent_waits=part.recent_waits,
            )
            for name, base, part, clock in zip(
                cut.names, first, parts, offsets, strict=True
            )
        ),
    )


def _tags(parts: Sequence[Measured]) -> list[TagTiming]:
    """Return the tags of which all federates have kept everything."""
    kept = [
        part.recent_tags[0].tag if part.recent_tags else None
        for part in parts
        if part.tags > len(part.recent_tags)
    ]
    if None in kept:
        return []
    since = max((tag for tag in kept if tag is not None), default=None)
    found: dict[Tag, TagTiming] = {}
    for part in parts:
        for tag in part.recent_tags:
            if since is not None and tag.tag < since:
                continue
            other = found.get(tag.tag, tag)
            found[tag.tag] = TagTiming(
                tag.tag,
                min(tag.begin, other.begin),
                max(tag.end, other.end),
                max(tag.lag, other.lag),
            )
    return [found[tag] for tag in sorted(found)]
