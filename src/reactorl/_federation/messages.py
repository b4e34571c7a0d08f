# SPDX-License-Identifier: Apache-2.0
"""What federates and the coordinator say to each other; the core's own types in Python.

A tag here is absolute: all federates have the same start time.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from reactorl.tag import FOREVER, MAX_MICROSTEP, Tag

NEVER_ENDS: Final = Tag(FOREVER, MAX_MICROSTEP)
"""Later than all tags: nothing is going to happen."""

BEFORE_ALL: Final = Tag(-(1 << 63), 0)
"""Earlier than all tags."""

NO_KEY: Final = (1 << 64) - 1


class Kind(IntEnum):
    """Kinds of messages, in the order of ``MessageKind`` in ``gate.hpp``."""

    VALUE = 0
    LATE = 1
    PHYSICAL = 2
    STOP = 3
    PROMISE = 4
    DEMAND = 5
    FLOOR = 6
    HORIZON = 7
    ATTEND = 8
    END = 9
    FAILURE = 10
    ENDING = 11

    @property
    def numbered(self) -> bool:
        """Whether messages of this kind are values, whose sequence is fixed."""
        return self <= Kind.STOP

    @property
    def for_coordinator(self) -> bool:
        """Whether federates send messages of this kind to the coordinator."""
        return self in (Kind.FAILURE, Kind.ENDING)


class Message(NamedTuple):
    """One message; ``gate.hpp`` explains the fields for each kind.

    Attributes:
        place: The place of a slot in the link's order, or a stage: ``index`` there.
        number: Counts the values of this link in this direction, from 1; 0 for others.
        promise: What a ``PROMISE`` after this value would say: its ``tag`` and ``at``.
            It rides on the last value of a tag, so that it costs nothing.
    """

    kind: Kind
    final: bool = False
    tag: Tag = BEFORE_ALL
    place: int = 0
    at: Tag = BEFORE_ALL
    key: int = NO_KEY
    value: object = None
    number: int = 0
    promise: tuple[Tag, Tag] | None = None

    def with_value(self, value: object) -> Message:
        """Return the message with another value; faster than ``_replace``."""
        kind, final, tag, place, at, key, _, number, promise = self
        return Message(kind, final, tag, place, at, key, value, number, promise)

    @property
    def promised(self) -> Message | None:
        """The promise as a message of its own."""
        if self.promise is None:
            return None
        return Message(Kind.PROMISE, tag=self.promise[0], at=self.promise[1])


class Report(NamedTuple):
    """What a federate says when it can do nothing until something arrives.

    Attributes:
        next: Its own next event; ``NEVER_ENDS`` if there is none.
        bound: The earliest tag at which it may act without hearing from others. Earlier
            than ``next`` only if the physical world may send it events.
        done: The last tag that it ran.
        horizon: It begins no later tag.
        inside: Whether it waits within the tag ``next``; if that is ``NEVER_ENDS``, it
            is done with the final tag and waits for nothing.
        taken: How many messages it has taken in.
        sent: How many values it sent, per federate.
        received: How many it has taken in.
    """

    next: Tag
    bound: Tag
    done: Tag
    horizon: Tag
    inside: bool
    taken: int
    sent: tuple[int, ...]
    received: tuple[int, ...]

    @property
    def is_over(self) -> bool:
        """Whether the federate is done with the final tag."""
        return self.inside and self.next == NEVER_ENDS
