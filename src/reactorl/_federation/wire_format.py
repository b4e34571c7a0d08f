# SPDX-License-Identifier: Apache-2.0
"""Frames as bytes, and back. Nothing here performs input or output.

``pack`` returns the pieces of a frame; large memory is not copied. ``FrameReader``
takes bytes from a ``Source``: it checks every size against the limits before it asks
for memory, and every field before it makes a frame of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import starmap
from struct import Struct, unpack_from
from struct import pack as pack_struct
from typing import TYPE_CHECKING, Final, NoReturn, Protocol

from reactorl._federation import frames
from reactorl._federation.codec import Payload, allocate
from reactorl._federation.link_errors import FrameError
from reactorl._federation.messages import Kind, Message, Report
from reactorl.tag import MAX_MICROSTEP, Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._federation.frames import Facts, Frame

VERSION: Final = 1
MAGIC: Final = b"RL"
HEADER: Final = Struct("<2sBBIQ")  # magic, version, kind, count, length of the body
KINDS: Final = {
    frames.Ack: 32,
    Report: 33,
    frames.Hello: 34,
    frames.Start: 35,
    frames.Save: 36,
    frames.Saved: 37,
    frames.Failed: 38,
    frames.Finished: 39,
    frames.Bye: 40,
    frames.StopRequest: 41,
    frames.Probe: 42,
    frames.Reading: 43,
    frames.Physical: 44,
    frames.Release: 45,
    frames.Kept: 46,
}
"""Numbers on the wire of frames that are not a ``Message``, whose number is its kind.
A change of these or of ``Kind`` needs another ``VERSION``."""

_TAG: Final = Struct("<qQ")
# Number, flags, place, two tags, key, size of the pickle; a promise (two tags).
_VALUE: Final = Struct("<QIIqQqQQQ")
_RIDING: Final = Struct("<qQqQ")
_FINAL, _RIDES = 1, 2  # flags
_LAST_VALUE: Final = int(Kind.STOP)
_KINDS_OF_VALUES: Final = tuple(kind for kind in Kind if kind.numbered)
_MESSAGE: Final = Struct("<IIqQqQQ")  # the same without number and size
_SAVED: Final = Struct("<qQQ")
_PROBE: Final = Struct("<QI")
_READING: Final = Struct("<QqQ")  # number, clock, size of the pickle
_FACTS: Final = Struct("<QQ")  # size of the facts, of the pickle
_REPORT: Final = Struct("<qQqQqQqQQQ")  # four tags, whether inside, what was taken
_COUNTS: Final = Struct("<QQ")
_TIME: Final = Struct("<q")
_NUMBER: Final = Struct("<Q")
_MEMBER: Final = Struct("<IQ")
_STATUS: Final = Struct("<i")
_JOINED_BYTES: Final = (
    1 << 14
)  # smaller pieces are joined: a copy is faster than a piece


@dataclass(frozen=True, slots=True)
class Limits:
    """What a frame may ask the receiver to allocate.

    Attributes:
        value: Bytes of a value or of a federate's state.
        buffers: Arrays in a value.
        control: Bytes of any other frame.
    """

    value: int = 1 << 32
    buffers: int = 1 << 16
    control: int = 1 << 24


class Source(Protocol):
    """Where bytes come from. Both raise if the bytes end too early."""

    def take(self, size: int) -> memoryview:
        """Return the next bytes; valid until the next call."""

    def fill(self, memory: Sequence[memoryview]) -> None:
        """Fill memory with the next bytes."""


def pack(frame: Frame) -> list[bytes | memoryview]:
    """Return a frame in pieces that follow each other on the wire."""
    if isinstance(frame, Message):
        return _pack_message(frame)
    kind = KINDS[type(frame)]
    match frame:
        case frames.Saved(tag, payload):
            return _pack_payload(kind, _SAVED.pack(*tag, len(payload.data)), payload)
        case frames.Reading(number, clock, payload):
            fields = _READING.pack(number, clock, len(payload.data))
            return _pack_payload(kind, fields, payload)
        case frames.Failed(facts, payload) | frames.Finished(facts, payload):
            text = _json(facts)
            head = _FACTS.pack(len(text), len(payload.data))
            return _pack_payload(kind, head, payload, text)
        case Report():
            tags = (*frame.next, *frame.bound, *frame.done, *frame.horizon)
            counts = list(zip(frame.sent, frame.received, strict=True))
            body = _REPORT.pack(*tags, frame.inside, frame.taken)
            body += b"".join(starmap(_COUNTS.pack, counts))
            return [HEADER.pack(MAGIC, VERSION, kind, len(counts), len(body)) + body]
        case frames.Hello(federate, life, facts):
            body = _MEMBER.pack(federate, life) + _json(facts)
        case frames.Start(time, facts):
            body = _TIME.pack(time) + _json(facts)
        case frames.Ack(number):
            body = _NUMBER.pack(number)
        case frames.Bye(status):
            body = _STATUS.pack(status)
        case frames.Save(tag) | frames.Kept(tag):
            body = _TAG.pack(*tag)
        case frames.Probe(number, progress):
            body = _PROBE.pack(number, progress)
        case frames.StopRequest() | frames.Physical() | frames.Release():
            body = b""
    return [HEADER.pack(MAGIC, VERSION, kind, 0, len(body)) + body]


def _pack_message(message: Message) -> list[bytes | memoryview]:
    kind, final, tag, place, at, key, payload, number, promise = message
    if not kind.numbered:
        body = _MESSAGE.pack(final, place, *tag, *at, key)
        return [HEADER.pack(MAGIC, VERSION, kind, 0, len(body)) + body]
    if not isinstance(payload, Payload):
        msg = f"the value of a frame must be a Payload, got {type(payload).__name__}"
        raise TypeError(msg)
    size = len(payload.data)
    if promise is None:
        head = _VALUE.pack(number, final, place, *tag, *at, key, size)
    else:
        flags = final | _RIDES
        head = _VALUE.pack(number, flags, place, *tag, *at, key, size)
        head += _RIDING.pack(*promise[0], *promise[1])
    return _pack_payload(kind, head, payload)


def _pack_payload(
    kind: int, fields: bytes, payload: Payload, text: bytes = b""
) -> list[bytes | memoryview]:
    data, buffers = payload
    if not buffers:
        size = len(fields) + len(text) + len(data)
        head = HEADER.pack(MAGIC, VERSION, kind, 0, size) + fields + text
        return [head + data] if len(data) < _JOINED_BYTES else [head, data]
    sizes = [buffer.nbytes for buffer in buffers]
    fields += pack_struct(f"<{len(sizes)}Q", *sizes)
    length = len(fields) + len(text) + len(data) + sum(sizes)
    head = HEADER.pack(MAGIC, VERSION, kind, len(sizes), length)
    small: list[bytes | memoryview] = [head, fields, text, data]
    pieces: list[bytes | memoryview] = []
    for buffer in buffers:
        if buffer.nbytes < _JOINED_BYTES:
            small.append(buffer)
            continue
        if small:
            pieces.append(b"".join(small))
            small = []
        pieces.append(buffer)
    return [*pieces, b"".join(small)] if small else pieces


def _json(facts: Facts) -> bytes:
    return json.dumps(facts, separators=(",", ":"), allow_nan=False).encode()


class FrameReader:
    """Reads frames of one peer.

    Args:
        source: Where its bytes come from.
        limits: What a frame may ask for.
        peer: Name of the sender, for errors.
    """

    def __init__(self, source: Source, limits: Limits, peer: str) -> None:
        self._source = source
        self._limits = limits
        self._peer = peer

    def read(self) -> Frame:
        """Return the next frame.

        Raises:
            FrameError: The bytes are not a frame, or one that is too large.
        """
        header = self._source.take(HEADER.size)
        magic, version, kind, count, length = HEADER.unpack(header)
        if magic != MAGIC:
            self._fail(f"a frame must begin with {MAGIC!r}, got {magic!r}")
        if version != VERSION:
            self._fail(f"the version of frames must be {VERSION}, got {version}")
        if kind <= _LAST_VALUE:
            return self._value(_KINDS_OF_VALUES[kind], count, length)
        if kind in _WITH_PAYLOAD:
            return _WITH_PAYLOAD[kind](self, count, length)
        decoder = _DECODERS.get(kind)
        if decoder is None:
            self._fail(f"the kind of a frame must be a known one, got {kind}")
        self._check("a control frame", length, self._limits.control)
        frame = decoder(self._bytes(length), count)
        if frame is None:
            self._fail(f"a frame of kind {kind} has {length} bytes of wrong content")
        return frame

    def _value(self, kind: Kind, count: int, length: int) -> Message:
        self._check_sizes(count, length, _VALUE.size)
        fields = _VALUE.unpack(self._source.take(_VALUE.size))
        number, flags, place, time, microstep, at, at_step, key, size = fields
        if flags > _FINAL | _RIDES or not number:
            self._fail(f"a value has number {number} and flags {flags}")
        if microstep > MAX_MICROSTEP or at_step > MAX_MICROSTEP:
            self._tag(time, max(microstep, at_step))
        tag, at_tag = Tag(time, microstep), Tag(at, at_step)
        rest = length - _VALUE.size
        promise = None
        if flags & _RIDES:
            self._check_sizes(count, rest, _RIDING.size)
            time, microstep, at, at_step = _RIDING.unpack(
                self._source.take(_RIDING.size)
            )
            promise = self._tag(time, microstep), self._tag(at, at_step)
            rest -= _RIDING.size
        if not count and size == rest <= _TAKEN_BYTES:
            payload = Payload(bytes(self._source.take(size)))  # most values are small
        else:
            _, payload = self._payload(count, rest, 0, size)
        final = flags & _FINAL == _FINAL
        return Message(kind, final, tag, place, at_tag, key, payload, number, promise)

    def _saved(self, count: int, length: int) -> frames.Saved:
        self._check_sizes(count, length, _SAVED.size)
        time, microstep, size = _SAVED.unpack(self._source.take(_SAVED.size))
        tag = self._tag(time, microstep)
        _, payload = self._payload(count, length - _SAVED.size, 0, size)
        return frames.Saved(tag, payload)

    def _reading(self, count: int, length: int) -> frames.Reading:
        self._check_sizes(count, length, _READING.size)
        number, clock, size = _READING.unpack(self._source.take(_READING.size))
        _, payload = self._payload(count, length - _READING.size, 0, size)
        return frames.Reading(number, clock, payload)

    def _facts(self, count: int, length: int) -> tuple[Facts, Payload]:
        self._check_sizes(count, length, _FACTS.size)
        text_size, size = _FACTS.unpack(self._source.take(_FACTS.size))
        self._check("the text of an end", text_size, self._limits.control)
        rest = length - _FACTS.size
        text, payload = self._payload(count, rest, text_size, size)
        facts = _facts(text)
        if facts is None:
            self._fail("the text of an end is not a JSON object")
        return facts, payload

    def _failed(self, count: int, length: int) -> frames.Failed:
        return frames.Failed(*self._facts(count, length))

    def _finished(self, count: int, length: int) -> frames.Finished:
        return frames.Finished(*self._facts(count, length))

    def _payload(
        self, count: int, rest: int, text_size: int, size: int
    ) -> tuple[bytes, Payload]:
        """Read the sizes of buffers, a text, a pickle and the buffers."""
        sizes: tuple[int, ...] = ()
        if count:
            sizes = unpack_from(f"<{count}Q", self._bytes(8 * count))
        expected = 8 * count + text_size + size + sum(sizes)
        if expected != rest:
            self._fail(f"the parts of a payload must have {rest} bytes, got {expected}")
        text = self._bytes(text_size)
        data = self._bytes(size)
        buffers = tuple(allocate(each) for each in sizes)
        if buffers:
            self._source.fill(buffers)
        return text, Payload(data, buffers)

    def _bytes(self, size: int) -> bytes:
        if size <= _TAKEN_BYTES:
            return bytes(self._source.take(size))
        memory = allocate(size)
        self._source.fill([memory])
        return memory  # type: ignore[return-value]  # read by pickle and struct only

    def _tag(self, time: int, microstep: int) -> Tag:
        if microstep > MAX_MICROSTEP:
            self._fail(f"a microstep must be at most {MAX_MICROSTEP}, got {microstep}")
        return Tag(time, microstep)

    def _check_sizes(self, count: int, length: int, least: int) -> None:
        if length > self._limits.value or count > self._limits.buffers:
            self._check("a value", length, self._limits.value)
            self._check("the number of buffers", count, self._limits.buffers)
        if length < least + 8 * count:
            self._fail(f"a value must have {least + 8 * count} bytes, got {length}")

    def _check(self, name: str, size: int, limit: int) -> None:
        if size > limit:
            self._fail(f"{name} must be at most {limit}, got {size}")

    def _fail(self, what: str) -> NoReturn:
        msg = f"reading from {self._peer} failed: {what}"
        raise FrameError(msg, peer=self._peer)


_TAKEN_BYTES: Final = 1 << 14  # what every source can give at once


def _tags(body: bytes, count: int) -> tuple[Tag, ...] | None:
    if len(body) != count * _TAG.size:
        return None
    tags = tuple(starmap(Tag, _TAG.iter_unpack(body)))
    return tags if all(tag.microstep <= MAX_MICROSTEP for tag in tags) else None


def _only(make: Callable[..., Frame], fields: Struct) -> Callable[..., Frame | None]:
    def decode(body: bytes, count: int) -> Frame | None:
        if count or len(body) != fields.size:
            return None
        return make(*fields.unpack(body))

    return decode


def _with_facts(
    make: Callable[..., Frame], fields: Struct
) -> Callable[..., Frame | None]:
    def decode(body: bytes, count: int) -> Frame | None:
        facts = _facts(body[fields.size :])
        if count or facts is None or len(body) < fields.size:
            return None
        return make(*fields.unpack_from(body), facts)

    return decode


def _with_tag(make: Callable[[Tag], Frame]) -> Callable[[bytes, int], Frame | None]:
    def decode(body: bytes, count: int) -> Frame | None:
        tags = None if count else _tags(body, 1)
        return None if tags is None else make(tags[0])

    return decode


def _report(body: bytes, count: int) -> Frame | None:
    if len(body) != _REPORT.size + _COUNTS.size * count:
        return None
    tags = _tags(body[: 4 * _TAG.size], 4)
    inside, taken = _REPORT.unpack_from(body)[8:]
    if tags is None or inside > 1:
        return None
    counts = list(_COUNTS.iter_unpack(body[_REPORT.size :]))
    sent = tuple(sent for sent, _ in counts)
    received = tuple(received for _, received in counts)
    return Report(
        tags[0], tags[1], tags[2], tags[3], inside == 1, taken, sent, received
    )


def _message(kind: Kind) -> Callable[[bytes, int], Frame | None]:
    def decode(body: bytes, count: int) -> Frame | None:
        if count or len(body) != _MESSAGE.size:
            return None
        final, place, *_, key = _MESSAGE.unpack(body)
        tags = _tags(body[8:40], 2)
        if tags is None or final > 1:
            return None
        return Message(kind, final == 1, tags[0], place, tags[1], key)

    return decode


def _facts(text: bytes) -> Facts | None:
    try:
        found = json.loads(bytes(text), parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _reject(name: str) -> None:
    raise ValueError(name)


_DECODERS: Final[dict[int, Callable[[bytes, int], Frame | None]]] = {
    **{kind: _message(kind) for kind in Kind if not kind.numbered},
    KINDS[frames.Ack]: _only(frames.Ack, _NUMBER),
    KINDS[frames.Hello]: _with_facts(frames.Hello, _MEMBER),
    KINDS[frames.Start]: _with_facts(frames.Start, _TIME),
    KINDS[Report]: _report,
    KINDS[frames.Save]: _with_tag(frames.Save),
    KINDS[frames.Kept]: _with_tag(frames.Kept),
    KINDS[frames.StopRequest]: _only(frames.StopRequest, Struct("")),
    KINDS[frames.Physical]: _only(frames.Physical, Struct("")),
    KINDS[frames.Release]: _only(frames.Release, Struct("")),
    KINDS[frames.Bye]: _only(frames.Bye, _STATUS),
    KINDS[frames.Probe]: _only(frames.Probe, _PROBE),
}
_WITH_PAYLOAD: Final[dict[int, Callable[[FrameReader, int, int], Frame]]] = {
    KINDS[frames.Saved]: FrameReader._saved,
    KINDS[frames.Reading]: FrameReader._reading,
    KINDS[frames.Failed]: FrameReader._failed,
    KINDS[frames.Finished]: FrameReader._finished,
}
