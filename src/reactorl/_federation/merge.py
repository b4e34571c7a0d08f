# SPDX-License-Identifier: Apache-2.0
"""The traces of all federates, put together: the trace of one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl._runtime.recording import Recording
from reactorl._runtime.tracing import NumberedTag, numbered_tags
from reactorl.trace.record import TagRecord, Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.plan import Planned
    from reactorl.tag import Tag
    from reactorl.trace.record import Event, ReactionRecord


@dataclass(frozen=True, slots=True)
class FederateTrace:
    """What the core of one federate recorded."""

    planned: Planned
    noted: bytes
    values: Sequence[object]


def merged_trace(
    program: Program,
    cut: Cut,
    traces: Sequence[FederateTrace],
    *,
    finished: bool = True,
) -> Trace:
    """Return the trace of a run.

    Args:
        program: The program.
        cut: How it was cut.
        traces: What each federate recorded, in the order of the federates.
        finished: Whether the run reached its final tag, which is in the trace in any
            case.
    """
    reactions: dict[Tag, list[tuple[int, ReactionRecord]]] = {}
    events: dict[Tag, list[tuple[int, Event]]] = {}
    for federate, trace in enumerate(traces):
        for own in _own(program, cut, federate, trace):
            reactions.setdefault(own.tag, []).extend(own.reactions)
            events.setdefault(own.tag, []).extend(own.events)
    rank = program.order.rank
    final = max(reactions, default=None) if finished else None
    merged = []
    for tag in sorted(reactions):
        if not reactions[tag] and tag != final:
            continue  # nothing ran: one process forgets such a tag
        ran = sorted(reactions[tag], key=lambda each: (rank[each[0]], each[0]))
        sent = sorted(events[tag], key=lambda each: each[0])
        merged.append(
            TagRecord(
                tag,
                tuple(record for _, record in ran),
                tuple(event for _, event in sent),
            )
        )
    return Trace(tuple(merged))


def merged_recording(parts: Sequence[Recording]) -> Recording:
    """Return the physical inputs of a run, which one process can replay."""
    merged = Recording()
    for part in parts:
        merged.program, merged.seed = part.program, part.seed
        merged.events += part.events
        merged.missed += part.missed
        merged.clock |= part.clock
        merged.alarms |= part.alarms
        if part.end is not None:
            merged.end = max(part.end, merged.end or part.end)
    merged.events.sort(key=lambda event: (event[0], event[1]))  # stable
    merged.missed.sort()
    merged.clock = dict(sorted(merged.clock.items()))
    merged.alarms = dict(sorted(merged.alarms.items()))
    return merged


def _own(
    program: Program, cut: Cut, federate: int, trace: FederateTrace
) -> Iterator[NumberedTag]:
    """Yield what a federate recorded, without what its replicas did."""
    planned = trace.planned
    for tag in numbered_tags(program, planned, trace.noted, trace.values):
        yield NumberedTag(
            tag.tag,
            tuple(
                (reaction, record)
                for reaction, record in tag.reactions
                if cut.where[program.reactions[reaction].reactor] == federate
            ),
            tuple(
                (trigger, event)
                for trigger, event in tag.events
                if cut.stage_home[trigger - planned.first_stage] == federate
            ),
        )
