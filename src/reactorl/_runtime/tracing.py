# SPDX-License-Identifier: Apache-2.0
"""Trace of a run: from the core's numbers to names."""

from __future__ import annotations

from array import array
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from reactorl import _core
from reactorl.tag import Tag
from reactorl.trace.record import Event, ReactionRecord, TagRecord, Trace
from reactorl.trace.value_text import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl._program.program import Program
    from reactorl._runtime.plan import Planned


def trigger_name(program: Program, planned: Planned, trigger: int) -> str:
    """Return the full name of a timer or action, or what a delay stage delays."""
    if trigger >= planned.first_stage:
        stage = planned.stages[trigger - planned.first_stage]
        arrow = "~>" if stage.physical else "after"
        return f"{program.channel_name(stage.source)} {arrow} {stage.delay or 0}"
    if trigger >= planned.first_action:
        return program.element_name(program.actions[trigger - planned.first_action])
    return program.element_name(program.timers[trigger])


def physical_names(program: Program, planned: Planned) -> dict[str, int]:
    """Return the trigger of each name that a recording may use, each name once."""
    names: dict[str, int] = {}
    for trigger in range(
        planned.first_action, planned.first_stage + len(planned.stages)
    ):
        plain = name = trigger_name(program, planned, trigger)
        again = 1
        while name in names:  # two connections from one port with one delay
            again += 1
            name = f"{plain} #{again}"
        names[name] = trigger
    return names


def make_trace(
    program: Program, planned: Planned, noted: bytes, values: Sequence[object]
) -> Trace:
    """Return the trace that the core recorded; see ``trace_log.hpp`` for the format."""
    tags = numbered_tags(program, planned, noted, values)
    return Trace(
        tuple(
            TagRecord(
                tag.tag,
                tuple(record for _, record in tag.reactions),
                tuple(event for _, event in tag.events),
            )
            for tag in tags
        )
    )


class NumberedTag(NamedTuple):
    """The record of a tag, with the ids of reactions and of triggers."""

    tag: Tag
    reactions: tuple[tuple[int, ReactionRecord], ...]
    events: tuple[tuple[int, Event], ...]


def numbered_tags(
    program: Program, planned: Planned, noted: bytes, values: Sequence[object]
) -> Iterator[NumberedTag]:
    """Yield the records of what the core recorded, tag by tag."""
    words, which = (array("q", numbers) for numbers in _core.expand_trace(noted))
    text_of = cache(lambda kept: _text(values[kept] if kept >= 0 else None))
    return _tags(program, planned, words, map(text_of, which))


def _tags(
    program: Program, planned: Planned, words: array[int], texts: Iterator[str]
) -> Iterator[NumberedTag]:
    name_of = cache(lambda trigger: trigger_name(program, planned, trigger))
    channel_of = cache(lambda slot: program.channel_name(planned.slot_channel[slot]))
    reaction_of = cache(program.reaction_name)
    take = iter(words).__next__
    end = len(words)
    at = 0
    while at < end:
        tag = Tag(take(), take())
        count = take()
        at += 3
        reactions = []
        for _ in range(count):
            reaction, flags, mode, sets = take(), take(), take(), take()
            slots = [take() for _ in range(sets)]
            events, used = _events(take, name_of)
            at += 4 + sets + used
            entry = "reset" if flags & 2 else "history"
            modes = (
                ()
                if mode < 0
                else (f"{program.element_name(program.modes[mode])} {entry}",)
            )
            record = ReactionRecord(
                reaction=reaction_of(reaction),
                missed_deadline=bool(flags & 1),
                sets=tuple((channel_of(s), next(texts)) for s in slots),
                events=tuple(event for _, event in events),
                modes=modes,
            )
            reactions.append((reaction, record))
        stage_events, used = _events(take, name_of)
        at += used
        yield NumberedTag(tag, tuple(reactions), stage_events)


def _events(
    take: Callable[[], int], name_of: Callable[[int], str]
) -> tuple[tuple[tuple[int, Event], ...], int]:
    count = take()
    events = []
    for _ in range(count):
        trigger, time, step = take(), take(), take()
        event = Event(name_of(trigger), None if step < 0 else Tag(time, step))
        events.append((trigger, event))
    return tuple(events), 1 + 3 * count


def _text(kept: object) -> str:
    """Return the text of what the core kept: a scalar, a type, or (text,)."""
    if isinstance(kept, type):
        return f"<{kept.__name__}>"
    if isinstance(kept, tuple):
        return str(kept[0])
    return value_text(kept, deep=False)
