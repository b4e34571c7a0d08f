# SPDX-License-Identifier: Apache-2.0
"""Counts of a trace: tags, events, runs of reactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl.tag import Tag
    from reactorl.trace.record import TagRecord


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a trace.

    Attributes:
        tags: Tags at which something happened.
        last: The last of them, elapsed; None if there is none.
        events: Events that were scheduled.
        dropped: Events that were discarded.
        sets: Ports set.
        runs: How often each reaction ran, by name in the order of their first run.
        missed: How many deadlines each missed, by name; only those that missed any.
        most: The largest number of reactions at one tag.
    """

    tags: int
    last: Tag | None
    events: int
    dropped: int
    sets: int
    runs: dict[str, int]
    missed: dict[str, int]
    most: int


def count(trace: Iterable[TagRecord]) -> Counts:
    """Return the counts of a trace."""
    tags = events = dropped = sets = most = 0
    last: Tag | None = None
    runs: dict[str, int] = {}
    missed: dict[str, int] = {}
    for record in trace:
        tags += 1
        last = record.tag
        most = max(most, len(record.reactions))
        noted = list(record.events)
        for ran in record.reactions:
            runs[ran.reaction] = runs.get(ran.reaction, 0) + 1
            if ran.missed_deadline:
                missed[ran.reaction] = missed.get(ran.reaction, 0) + 1
            sets += len(ran.sets)
            noted += ran.events
        events += len(noted)
        dropped += sum(event.tag is None for event in noted)
    return Counts(tags, last, events, dropped, sets, runs, missed, most)
