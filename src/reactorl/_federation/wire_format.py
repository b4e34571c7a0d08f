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
from reactorl._federation.frames import Value
from reactorl._federation.link_errors import FrameError
from reactorl.tag import MAX_MICROSTEP, Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._federation.frames import Facts, Frame

VERSION: Final = 1
MAGIC: Final = b"RL"
HEADER: Final = Struct("<2sBBIQ")  # magic, version, kind, count, length of the body
KINDS: Final = {
    frames.Value: 1,
    frames.Settled: 2,
    frames.Promise: 3,
    frames.Demand: 4,
    frames.Ack: 5,
    frames.Control: 6,
    frames.Hello: 16,
    frames.Start: 17,
    frames.Status: 18,
    frames.Floor: 19,
    frames.Horizon: 20,
    frames.Save: 21,
    frames.Saved: 22,
    frames.Stop: 23,
    frames.Failed: 24,
    frames.Bye: 25,
}
"""Numbers on the wire. They never change; new frames get new numbers."""

_VALUE_KIND: Final = KINDS[frames.Value]
_TAG: Final = Struct("<qQ")
_VALUE: Final = Struct("<QIIqQQ")  # number, target, late, tag, size of the pickle
_SAVED: Final = Struct("<qQQ")
_FAILED: Final = Struct("<qQIIQ")  # tag, rank, size of the facts, of the pickle
_REPORT: Final = Struct("<qQqQqQqQQQ")  # four tags, whether inside, what was taken
_COUNTS: Final = Struct("<QQ")
_CONTROL: Final = Struct("<HHIqQqQQ")  # kind, whether final, index, two tags, key
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
    kind = KINDS[type(frame)]
    if isinstance(frame, Value):
        number, target, tag, late, payload = frame
        head = _VALUE.pack(number, target, late, *tag, len(payload.data))
        return _pack_payload(kind, head, payload)
    match frame:
        case frames.Saved(tag, payload):
            return _pack_payload(kind, _SAVED.pack(*tag, len(payload.data)), payload)
        case frames.Failed(tag, rank, facts, payload):
            text = _json(facts)
            head = _FAILED.pack(*tag, rank, len(text), len(payload.data))
            return _pack_payload(kind, head, payload, text)
        case frames.Settled(tag, slots):
            body = _TAG.pack(*tag) + pack_struct(f"<{len(slots)}I", *slots)
            return [HEADER.pack(MAGIC, VERSION, kind, len(slots), len(body)) + body]
        case frames.Status(next_event, bound, done, horizon, inside, taken, sent, got):
            tags = (*next_event, *bound, *done, *horizon)
            counts = list(zip(sent, got, strict=True))
            body = _REPORT.pack(*tags, inside, taken)
            body += b"".join(starmap(_COUNTS.pack, counts))
            return [HEADER.pack(MAGIC, VERSION, kind, len(counts), len(body)) + body]
        case frames.Control(what, final, tag, index, at, key):
            body = _CONTROL.pack(what, final, index, *tag, *at, key)
        case frames.Hello(federate, life, facts):
            body = _MEMBER.pack(federate, life) + _json(facts)
        case frames.Start(time, facts):
            body = _TIME.pack(time) + _json(facts)
        case frames.Ack(number):
            body = _NUMBER.pack(number)
        case frames.Bye(status):
            body = _STATUS.pack(status)
        case _:  # nothing but tags
            body = b"".join(starmap(_TAG.pack, frame))
    return [HEADER.pack(MAGIC, VERSION, kind, 0, len(body)) + body]


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
        if kind == _VALUE_KIND:
            return self._value(count, length)
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

    def _value(self, count: int, length: int) -> Value:
        self._check_sizes(count, length, _VALUE.size)
        fields = _VALUE.unpack(self._source.take(_VALUE.size))
        number, target, late, time, microstep, size = fields
        if late > 1 or not number:
            self._fail(f"a value has number {number} and flags {late}")
        tag = self._tag(time, microstep)
        if not count and size == length - _VALUE.size <= _TAKEN_BYTES:
            payload = Payload(bytes(self._source.take(size)))  # most values are small
        else:
            _, payload = self._payload(count, length - _VALUE.size, 0, size)
        return Value(number, target, tag, late == 1, payload)

    def _saved(self, count: int, length: int) -> frames.Saved:
        self._check_sizes(count, length, _SAVED.size)
        time, microstep, size = _SAVED.unpack(self._source.take(_SAVED.size))
        tag = self._tag(time, microstep)
        _, payload = self._payload(count, length - _SAVED.size, 0, size)
        return frames.Saved(tag, payload)

    def _failed(self, count: int, length: int) -> frames.Failed:
        self._check_sizes(count, length, _FAILED.size)
        fields = _FAILED.unpack(self._source.take(_FAILED.size))
        time, microstep, rank, text_size, size = fields
        tag = self._tag(time, microstep)
        self._check("the text of a failure", text_size, self._limits.control)
        rest = length - _FAILED.size
        text, payload = self._payload(count, rest, text_size, size)
        facts = _facts(text)
        if facts is None:
            self._fail("the text of a failure is not a JSON object")
        return frames.Failed(tag, rank, facts, payload)

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


def _only_tags(make: Callable[..., Frame], number: int) -> Callable[..., Frame | None]:
    def decode(body: bytes, count: int) -> Frame | None:
        tags = None if count else _tags(body, number)
        return None if tags is None else make(*tags)

    return decode


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


def _settled(body: bytes, count: int) -> Frame | None:
    tags = _tags(body[: _TAG.size], 1)
    if tags is None or len(body) != _TAG.size + 4 * count:
        return None
    return frames.Settled(tags[0], unpack_from(f"<{count}I", body, _TAG.size))


def _status(body: bytes, count: int) -> Frame | None:
    if len(body) != _REPORT.size + _COUNTS.size * count:
        return None
    tags = _tags(body[: 4 * _TAG.size], 4)
    inside, taken = _REPORT.unpack_from(body)[8:]
    if tags is None or inside > 1:
        return None
    counts = list(_COUNTS.iter_unpack(body[_REPORT.size :]))
    sent = tuple(sent for sent, _ in counts)
    received = tuple(received for _, received in counts)
    return frames.Status(
        tags[0], tags[1], tags[2], tags[3], inside == 1, taken, sent, received
    )


def _control(body: bytes, count: int) -> Frame | None:
    if count or len(body) != _CONTROL.size:
        return None
    kind, final, index, *_, key = _CONTROL.unpack(body)
    tags = _tags(body[8:40], 2)
    if tags is None or final > 1:
        return None
    return frames.Control(kind, final == 1, tags[0], index, tags[1], key)


def _facts(text: bytes) -> Facts | None:
    try:
        found = json.loads(bytes(text), parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _reject(name: str) -> None:
    raise ValueError(name)


_DECODERS: Final[dict[int, Callable[[bytes, int], Frame | None]]] = {
    KINDS[frames.Settled]: _settled,
    KINDS[frames.Promise]: _only_tags(frames.Promise, 3),
    KINDS[frames.Demand]: _only_tags(frames.Demand, 1),
    KINDS[frames.Ack]: _only(frames.Ack, _NUMBER),
    KINDS[frames.Control]: _control,
    KINDS[frames.Hello]: _with_facts(frames.Hello, _MEMBER),
    KINDS[frames.Start]: _with_facts(frames.Start, _TIME),
    KINDS[frames.Status]: _status,
    KINDS[frames.Floor]: _only_tags(frames.Floor, 2),
    KINDS[frames.Horizon]: _only_tags(frames.Horizon, 1),
    KINDS[frames.Save]: _only_tags(frames.Save, 1),
    KINDS[frames.Stop]: _only_tags(frames.Stop, 1),
    KINDS[frames.Bye]: _only(frames.Bye, _STATUS),
}
_WITH_PAYLOAD: Final[dict[int, Callable[[FrameReader, int, int], Frame]]] = {
    KINDS[frames.Saved]: FrameReader._saved,
    KINDS[frames.Failed]: FrameReader._failed,
}
