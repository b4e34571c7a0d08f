# SPDX-License-Identifier: Apache-2.0
"""The frames that federates and the coordinator exchange.

A frame is a header of 16 bytes (magic, version, kind, count, length) and a body. All
integers are little-endian. Only values are numbered: their order on a link is a
function of the program. Other frames depend on timing and can be repeated at any time.

Reading a frame executes nothing and allocates at most what ``Limits`` permits; payloads
stay bytes. How frames become bytes is in ``wire_format.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from reactorl.tag import FOREVER, MAX_MICROSTEP, NEVER, Tag

if TYPE_CHECKING:
    from reactorl._federation.codec import Payload

BEFORE_ALL: Final = Tag(NEVER)
AFTER_ALL: Final = Tag(FOREVER, MAX_MICROSTEP)

Facts: TypeAlias = Mapping[str, object]
"""What JSON can express; names are the user's business, so they are data here."""


class Value(NamedTuple):
    """A value for a slot, or the late value of a stage."""

    number: int
    """Counts the values of this link in this direction, from 1."""
    target: int
    """Id of the slot; of the stage, if ``late``."""
    tag: Tag
    """When it is present at the receiver."""
    late: bool
    """Whether it comes from a delayed connection, at a later tag than it was sent."""
    payload: Payload


class Settled(NamedTuple):
    """Slots that are absent at a tag."""

    tag: Tag
    slots: tuple[int, ...]


class Promise(NamedTuple):
    """No slot values before tag ``slots`` will follow, no late ones before ``late``."""

    slots: Tag
    late: Tag
    next_event: Tag


class Demand(NamedTuple):
    """The sender is at this tag and waits for a slot of the receiver."""

    tag: Tag


class Ack(NamedTuple):
    """All values up to this number are in the sender's checkpoint."""

    number: int


class Hello(NamedTuple):
    """A federate is ready. First frame to the coordinator."""

    federate: int
    life: int
    facts: Facts
    """Versions, digests, the numeric fingerprint, clock, addresses."""


class Start(NamedTuple):
    """The run begins at this time."""

    time: int
    facts: Facts
    """Addresses of all federates."""


class Status(NamedTuple):
    """What a federate reports when it can do nothing until something arrives."""

    next_event: Tag
    """Its own next event; ``AFTER_ALL`` if there is none."""
    bound: Tag
    """The earliest tag at which it may act by itself."""
    done: Tag
    """The last tag that it ran."""
    horizon: Tag
    """It begins no later tag."""
    inside: bool
    """Whether it waits within the tag ``next_event``."""
    taken: int
    """How many messages it has taken in."""
    sent: tuple[int, ...]
    """How many values it sent, per federate."""
    received: tuple[int, ...]
    """How many it has taken in, per federate; as many as in ``sent``."""


class Control(NamedTuple):
    """A message of the coordination that has no frame of its own. Not numbered."""

    kind: int
    """Its kind, a matter of the coordination; below 65536."""
    final: bool
    tag: Tag
    target: int
    at: Tag
    key: int


class Floor(NamedTuple):
    """The coordinator's promise for all links of a federate."""

    slots: Tag
    late: Tag


class Horizon(NamedTuple):
    """No later tag may begin."""

    tag: Tag


class Save(NamedTuple):
    """Save the state after the last tag that is not later than this one."""

    tag: Tag


class Saved(NamedTuple):
    """The state of a federate."""

    tag: Tag
    payload: Payload


class Stop(NamedTuple):
    """The final tag."""

    tag: Tag


class Failed(NamedTuple):
    """A reaction failed."""

    tag: Tag
    rank: int
    """Position of the reaction in the fixed order; ``NO_RANK`` outside of reactions."""
    facts: Facts
    """Names and texts of the error."""
    payload: Payload
    """The error itself; empty if it cannot be serialized."""


class Bye(NamedTuple):
    """The last frame of a process that ends as it should."""

    status: int
    """Exit status."""


Frame: TypeAlias = (
    Value
    | Settled
    | Promise
    | Demand
    | Ack
    | Hello
    | Start
    | Status
    | Control
    | Floor
    | Horizon
    | Save
    | Saved
    | Stop
    | Failed
    | Bye
)

NO_RANK: Final = 2**32 - 1
