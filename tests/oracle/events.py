# SPDX-License-Identifier: Apache-2.0
"""Events that wait for their tag, and the rules for when an action's event happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from reactorl.tag import FOREVER, Tag

if TYPE_CHECKING:
    from reactorl._program.program import ActionNode


class Trigger(NamedTuple):
    """The trigger of an event."""

    kind: Literal["timer", "action", "stage"]
    id: int


@dataclass
class Waiting:
    """One event on the queue."""

    trigger: Trigger
    tag: Tag
    payload: object = None


class EventQueue:
    """All waiting events, in no particular order; a trigger has one per tag."""

    def __init__(self) -> None:
        self.events: list[Waiting] = []

    def find(self, trigger: Trigger, tag: Tag) -> Waiting | None:
        """Return the event of ``trigger`` at exactly ``tag``."""
        for event in self.events:
            if event.trigger == trigger and event.tag == tag:
                return event
        return None

    def free(self, trigger: Trigger, tag: Tag) -> Tag:
        """Return ``tag`` or the next microstep at which ``trigger`` has no event."""
        while self.find(trigger, tag) is not None:
            tag = Tag(tag.time, tag.microstep + 1)
        return tag

    def put(self, event: Waiting) -> None:
        """Add an event."""
        assert self.find(event.trigger, event.tag) is None
        self.events.append(event)

    def remove(self, event: Waiting) -> None:
        """Take an event back."""
        self.events = [other for other in self.events if other is not event]

    def next_tag(self) -> Tag | None:
        """Return the earliest tag waiting."""
        return min((event.tag for event in self.events), default=None)

    def take(self, tag: Tag) -> list[Waiting]:
        """Remove and return all events at exactly ``tag``."""
        taken = [event for event in self.events if event.tag == tag]
        self.events = [event for event in self.events if event.tag != tag]
        return taken


def schedule(
    queue: EventQueue,
    action: ActionNode,
    last: Tag | None,
    now: Tag,
    stop: Tag,
    delay: int,
    payload: object,
) -> Tag | None:
    """Put an event of ``action`` on the queue by all the rules of scheduling.

    Args:
        queue: The queue.
        action: The action.
        last: The tag that the latest successful call for this action gave.
        now: The current tag.
        stop: The stop tag that was in force when the current tag began.
        delay: The extra delay of the call; a negative one counts as none.
        payload: The value.

    Returns:
        The tag of the event, or None if it was dropped. An event at the end of time
        never happens.
    """
    trigger = Trigger("action", action.id)
    tag = now.delay(action.min_delay + max(delay, 0))
    spacing = action.min_spacing
    if spacing is not None and last is not None and _too_early(tag, last, spacing):
        previous = queue.find(trigger, last)
        deferred = Tag(last.time + spacing, 0) if spacing > 0 else last.delay(0)
        match action.policy:
            case "drop":
                return None
            case "replace" if previous is not None:
                previous.payload = payload
                return last
            case "replace" | "defer":
                tag = deferred
            case "update":
                if previous is not None:
                    queue.remove(previous)
    if tag <= now:
        tag = now.delay(0)
    tag = queue.free(trigger, tag)
    if tag > stop or tag.time == FOREVER:
        return None
    queue.put(Waiting(trigger, tag, payload))
    return tag


def _too_early(tag: Tag, last: Tag, spacing: int) -> bool:
    return tag <= last if spacing == 0 else tag.time < last.time + spacing
