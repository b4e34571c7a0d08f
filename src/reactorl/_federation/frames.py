# SPDX-License-Identifier: Apache-2.0
"""The frames that federates and the coordinator exchange.

A frame is a header of 16 bytes (magic, version, kind, count, length) and a body. All
integers are little-endian. Messages of the coordination (``messages.py``) are frames as
they are; the others here concern a connection, or the beginning and the end of a run.

Only values are numbered: their order on a link is a function of the program. The value
of such a message is a ``Payload`` on the wire. Other frames depend on timing and can be
repeated at any time.

Reading a frame executes nothing and allocates at most what ``Limits`` permits; payloads
stay bytes. How frames become bytes is in ``wire_format.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reactorl._federation.messages import Message, Report

if TYPE_CHECKING:
    from reactorl._federation.codec import Payload
    from reactorl.tag import Tag

Facts: TypeAlias = Mapping[str, object]
"""What JSON can express; names are the user's business, so they are data here."""


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


class Save(NamedTuple):
    """Save the state after the last tag that is not later than this one."""

    tag: Tag


class Saved(NamedTuple):
    """The state of a federate."""

    tag: Tag
    payload: Payload


class Physical(NamedTuple):
    """This federate depends on the physical world: it cannot be repeated.

    The coordinator sends it back: only then may others see what depends on that.
    """


class Release(NamedTuple):
    """All federates have ended: what this one has sent is not needed again."""


class Kept(NamedTuple):
    """The states after this tag are kept: values sent up to it can be forgotten."""

    tag: Tag


class StopRequest(NamedTuple):
    """The program is to end, at the next tag at which all can: Ctrl-C, say."""


class Probe(NamedTuple):
    """The coordinator asks for the clock of a federate; answered at once."""

    number: int
    """Of the answer."""
    progress: int
    """1 if it asks for the progress of its run, too; else 0."""


class Reading(NamedTuple):
    """The answer to a ``Probe``."""

    number: int
    clock: int
    """The steady clock of the federate, in nanoseconds."""
    payload: Payload
    """Its progress, if that was asked for; see ``probes.Progress``."""


class Failed(NamedTuple):
    """An error ended the run of a federate. Where, says the message ``FAILURE``."""

    facts: Facts
    """Names and texts of the error."""
    payload: Payload
    """The error itself; empty if it cannot be serialized."""


class Finished(NamedTuple):
    """The run of a federate ended without an error of its own."""

    facts: Facts
    payload: Payload
    """What it recorded."""


class Bye(NamedTuple):
    """The last frame of a process that ends as it should."""

    status: int
    """Exit status."""


Frame: TypeAlias = (
    Message
    | Report
    | Ack
    | Hello
    | Start
    | Save
    | Saved
    | StopRequest
    | Kept
    | Physical
    | Release
    | Probe
    | Reading
    | Failed
    | Finished
    | Bye
)
