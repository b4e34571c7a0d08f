# SPDX-License-Identifier: Apache-2.0
"""Frames as bytes: exact, versioned, bounded, and safe to read from anything."""

from __future__ import annotations

import contextlib
import pickle
import re
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reactorl._federation import frames
from reactorl._federation.codec import Payload
from reactorl._federation.frames import Frame
from reactorl._federation.link_errors import FrameError
from reactorl._federation.messages import Kind, Message, Report
from reactorl._federation.wire_format import (
    HEADER,
    KINDS,
    MAGIC,
    VERSION,
    FrameReader,
    Limits,
    pack,
)
from reactorl.tag import FOREVER, MAX_MICROSTEP, NEVER, Tag
from tests.federation.pairs import demand, packed_value

if TYPE_CHECKING:
    from collections.abc import Sequence


class EndError(Exception):
    """There are no more bytes."""


class Bytes:
    """A source of frames over bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = memoryview(data)

    def take(self, size: int) -> memoryview:
        if size > len(self.data):
            raise EndError
        found, self.data = self.data[:size], self.data[size:]
        return found

    def fill(self, memory: Sequence[memoryview]) -> None:
        for each in memory:
            each[:] = self.take(each.nbytes)


def read(data: bytes, limits: Limits | None = None) -> Frame:
    source = Bytes(data)
    frame = FrameReader(source, limits or Limits(), "federate 3").read()
    assert not source.data, "bytes were left over"
    return plain(frame)


def plain(frame: Any) -> Any:
    """Return a frame whose payload is made of bytes, to compare it."""
    name = "value" if isinstance(frame, Message) else "payload"
    payload = getattr(frame, name, None)
    if payload is None:
        return frame
    data, buffers = payload
    return frame._replace(**{name: (bytes(data), tuple(map(bytes, buffers)))})


def packed(frame: Frame) -> bytes:
    return b"".join(pack(frame))


U32 = st.integers(0, 2**32 - 1)
U64 = st.integers(0, 2**64 - 1)
TAGS = st.builds(Tag, st.integers(NEVER, FOREVER), st.integers(0, MAX_MICROSTEP))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
FACTS = st.dictionaries(st.text(), JSON, max_size=4)
MEMORY = st.binary(max_size=40) | st.sampled_from([bytes(1 << 14), bytes(70_000)])
PAYLOADS = st.builds(
    Payload, MEMORY, st.lists(MEMORY.map(memoryview), max_size=4).map(tuple)
)
FRAMES = st.one_of(
    st.builds(
        Message,
        st.sampled_from([kind for kind in Kind if kind.numbered]),
        st.booleans(),
        TAGS,
        U32,
        TAGS,
        U64,
        PAYLOADS,
        st.integers(1, 2**64 - 1),
        st.none() | st.tuples(TAGS, TAGS),
    ),
    st.builds(
        Message,
        st.sampled_from([kind for kind in Kind if not kind.numbered]),
        st.booleans(),
        TAGS,
        U32,
        TAGS,
        U64,
        st.none(),
        st.just(0),
        st.none(),
    ),
    st.builds(frames.Ack, U64),
    st.builds(frames.Hello, U32, U64, FACTS),
    st.builds(frames.Start, st.integers(NEVER, FOREVER), FACTS),
    st.lists(st.tuples(U64, U64)).flatmap(
        lambda counts: st.builds(
            Report,
            *[TAGS] * 4,
            st.booleans(),
            U64,
            st.just(tuple(sent for sent, _ in counts)),
            st.just(tuple(received for _, received in counts)),
        )
    ),
    st.builds(frames.Save, TAGS),
    st.builds(frames.Saved, TAGS, PAYLOADS),
    st.just(frames.StopRequest()),
    st.builds(frames.Probe, U64, U32),
    st.builds(frames.Reading, U64, st.integers(NEVER, FOREVER), PAYLOADS),
    st.builds(frames.Failed, FACTS, PAYLOADS),
    st.builds(frames.Finished, FACTS, PAYLOADS),
    st.builds(frames.Bye, st.integers(-(2**31), 2**31 - 1)),
)
VALUE = packed_value(Payload(b"data"), Tag(5, 1), target=3, number=7)


@given(FRAMES)
@settings(max_examples=500)
def test_frames_are_equal_after_the_wire(frame: Frame) -> None:
    assert read(packed(frame)) == plain(frame)


def test_there_is_a_number_for_each_frame() -> None:
    assert {*KINDS, Message} == set(Frame.__args__)  # type: ignore[attr-defined]
    numbers = [*Kind, *KINDS.values()]
    assert len(set(numbers)) == len(numbers)


def test_bytes_of_frames_are_those_of_version_1() -> None:
    """If this fails, increase the version: other processes cannot read the frames."""
    tag = Tag(258, 3)
    t = "02010000000000000300000000000000"
    t2 = "ffffffffffffffff0000000000000000"
    key = "ffffffffffffffff"
    payload = Payload(b"ab", (memoryview(b"xyz"),))
    late = Message(Kind.LATE, True, tag, 4, Tag(-1), value=payload, number=9)  # noqa: FBT003
    expected: dict[Frame, str] = {
        late: (
            "0101"
            "01000000"
            "4d00000000000000"
            "0900000000000000"
            "01000000"
            "04000000"
            f"{t}{t2}{key}"
            "0200000000000000"
            "0300000000000000"
            "6162"
            "78797a"
        ),
        Message(Kind.PROMISE, True, tag, 9, Tag(-1)): (  # noqa: FBT003
            f"01040000000030000000000000000100000009000000{t}{t2}{key}"
        ),
        Message(Kind.ENDING, tag=tag, at=tag, key=5): (
            f"010b0000000030000000000000000000000000000000{t}{t}0500000000000000"
        ),
        frames.Ack(5): "01200000000008000000000000000500000000000000",
        frames.Bye(-1): "0128000000000400000000000000ffffffff",
        frames.Save(tag): f"0124000000001000000000000000{t}",
        Report(tag, tag, tag, tag, True, 5, (2,), (3,)): (  # noqa: FBT003
            f"0121010000006000000000000000{t}{t}{t}{t}"
            "0100000000000000050000000000000002000000000000000300000000000000"
        ),
    }

    for frame, text in expected.items():
        assert packed(frame).hex() == "524c" + text, frame


def test_large_memory_is_neither_copied_nor_joined() -> None:
    large = memoryview(bytes(1 << 20))
    small = memoryview(b"small")
    payload = Payload(b"data", (small, large, small))
    pieces = pack(packed_value(payload, Tag(1), number=1))

    assert len(pieces) == 3
    assert pieces[1] is large
    assert isinstance(pieces[0], bytes)
    assert pieces[0].endswith(b"datasmall")
    assert pieces[2] == b"small"


@given(FRAMES, st.data())
def test_cut_frames_are_noticed(frame: Frame, data: st.DataObject) -> None:
    content = packed(frame)
    size = data.draw(st.integers(0, len(content) - 1))

    with pytest.raises(EndError):
        read(content[:size])


@given(st.binary(max_size=200))
@example(b"")
@example(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
@settings(max_examples=1000)
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises((FrameError, EndError)):
        read(data)


@given(
    st.sampled_from([*KINDS.values(), 0, 255]),
    U32 | st.integers(0, 3),
    U64 | st.integers(0, 100),
    st.binary(max_size=200),
)
@settings(max_examples=2000)
def test_arbitrary_bodies_are_frames_or_errors(
    kind: int, count: int, length: int, body: bytes
) -> None:
    data = HEADER.pack(MAGIC, VERSION, kind, count, length) + body
    try:
        frame = read(data)
    except (FrameError, EndError, AssertionError):
        return
    if not hasattr(frame, "facts"):  # JSON may have spaces
        assert packed(frame) == data  # only what pack makes is accepted


@given(FRAMES, st.data())
@settings(max_examples=1000)
def test_changed_frames_are_frames_or_errors(frame: Frame, data: st.DataObject) -> None:
    content = bytearray(packed(frame))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, min(len(content), 100) - 1))] = data.draw(
            st.integers(0, 255)
        )
    source = Bytes(bytes(content))
    with contextlib.suppress(FrameError, EndError):
        FrameReader(source, Limits(value=1 << 20), "x").read()


def absurd() -> dict[str, bytes]:
    """Return headers that ask for memory that must not be allocated."""
    value, hello = Kind.VALUE, KINDS[frames.Hello]
    huge = 2**63
    return {
        "length of a value": HEADER.pack(MAGIC, 1, value, 0, huge) + bytes(64),
        "length of a hello": HEADER.pack(MAGIC, 1, hello, 0, huge) + bytes(64),
        "length of a hello, at the limit": HEADER.pack(
            MAGIC, 1, hello, 0, (1 << 24) + 1
        ),
        "number of buffers": HEADER.pack(MAGIC, 1, value, 2**32 - 1, 2**32),
        "number of counts": HEADER.pack(MAGIC, 1, KINDS[Report], 2**32 - 1, 80)
        + bytes(80),
        "size of a pickle": packed(VALUE)[:72] + huge.to_bytes(8, "little") + b"data",
        "size of a buffer": packed(
            VALUE._replace(value=Payload(b"d", (memoryview(b"x"),)))
        ).replace(b"\x01" + bytes(7) + b"dx", huge.to_bytes(8, "little") + b"dx"),
        "size of a text": packed(frames.Failed({}, Payload(b""))).replace(
            b"\x02\0\0\0", b"\xff\xff\xff\xff", 1
        ),
    }


@pytest.mark.parametrize("name", absurd())
def test_absurd_sizes_are_refused_before_memory_is_allocated(name: str) -> None:
    data = absurd()[name]
    tracemalloc.start()
    try:
        with pytest.raises(FrameError, match="reading from federate 3 failed: "):
            read(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1 << 20


def test_limits_are_exact() -> None:
    payload = Payload(b"d", (memoryview(bytes(10)), memoryview(bytes(10))))
    data = packed(VALUE._replace(value=payload))
    size = len(data) - HEADER.size

    assert read(data, Limits(value=size, buffers=2))
    with pytest.raises(FrameError, match=f"a value must be at most {size - 1}, got"):
        read(data, Limits(value=size - 1))
    with pytest.raises(FrameError, match="number of buffers must be at most 1, got 2"):
        read(data, Limits(buffers=1))
    with pytest.raises(FrameError, match="a control frame must be at most 47, got 48"):
        read(packed(demand()), Limits(control=47))
    assert read(packed(demand()), Limits(control=48))


@pytest.mark.parametrize("more", [1, 8, 1000])
def test_frames_that_are_longer_than_their_parts_are_refused(more: int) -> None:
    payload = Payload(b"d", (memoryview(b"x"),))
    for frame in (
        VALUE,
        VALUE._replace(value=payload),
        frames.Saved(Tag(1), payload),
        frames.Failed({}, payload),
    ):
        data = packed(frame)
        length = len(data) - HEADER.size + more
        longer = data[:8] + length.to_bytes(8, "little") + data[16:] + bytes(more)
        with pytest.raises(FrameError, match="the parts of a payload must have"):
            read(longer)


def test_errors_say_who_sent_what() -> None:
    data = packed(frames.Ack(5))
    cases = {
        b"XX" + data[2:]: r"must begin with b'RL', got b'XX'",
        data[:2] + b"\x02" + data[3:]: "version of frames must be 1, got 2",
        data[:3] + b"\x77" + data[4:]: "kind of a frame must be a known one, got 119",
        HEADER.pack(MAGIC, 1, 32, 0, 7)
        + bytes(7): "kind 32 has 7 bytes of wrong content",
        packed(VALUE)[:40] + b"\xff" * 8 + packed(VALUE)[48:]: (
            f"a microstep must be at most {MAX_MICROSTEP}, got {2**64 - 1}"
        ),
        packed(VALUE)[:24] + b"\x04" + packed(VALUE)[25:]: "flags 4",
        packed(VALUE)[:16] + bytes(8) + packed(VALUE)[24:]: "a value has number 0",
    }

    for content, message in cases.items():
        with pytest.raises(FrameError, match=message) as caught:
            read(content)
        assert caught.value.peer == "federate 3"
        assert re.match("reading from federate 3 failed: ", caught.value.what)


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"1", b"{", b"NaN", b'{"a":NaN}', b"\xff", b"[" * 100_000,
     b'{"a":' + b"9" * 10_000 + b"}"],
    ids=range(9),
)  # fmt: skip
def test_facts_that_are_not_json_objects_are_refused(text: bytes) -> None:
    head = HEADER.pack(MAGIC, VERSION, KINDS[frames.Hello], 0, 12 + len(text))

    with pytest.raises(FrameError, match="wrong content"):
        read(head + bytes(12) + text)


class Touch:
    """Executes code when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_reading_a_frame_executes_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    data = pickle.dumps(Touch(mark))
    for frame in (
        VALUE._replace(value=Payload(data)),
        frames.Saved(Tag(1), Payload(data)),
        frames.Failed({}, Payload(data)),
    ):
        assert read(packed(frame)) == frame
    assert not mark.exists()

    pickle.loads(data)  # it would have
    assert mark.exists()
