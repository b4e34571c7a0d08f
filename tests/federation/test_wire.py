# SPDX-License-Identifier: Apache-2.0
"""Bytes of links: any fragmentation, large values, signals, memory."""

from __future__ import annotations

import os
import resource
import select
import socket

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl._federation.codec import Payload
from reactorl._federation.messages import Kind, Message
from reactorl._federation.wire import EndOfStreamError, WireSource, after
from reactorl._federation.wire_format import FrameReader, Limits, pack
from reactorl.tag import Tag
from tests.federation.pairs import HANG, connections, linked, packed_value, value

KINDS = ("unix", "tcp", "tls")


class Pieces:
    """A wire that gives bytes in pieces of chosen sizes."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.data = data
        self.sizes = sizes

    def receive(self, memory: memoryview) -> int:
        size = min(self.sizes.pop() if self.sizes else 1 << 16, memory.nbytes)
        part, self.data = self.data[:size], self.data[size:]
        memory[: len(part)] = part
        return len(part)

    def receive_all(self, memory: list[memoryview]) -> int:
        total = 0
        for each in memory:
            left = each
            while left.nbytes:
                size = self.receive(left)
                if not size:
                    return total
                total += size
                left = left[size:]
        return total


@given(
    st.lists(
        st.lists(st.sampled_from([0, 1, 50, 70_000]), max_size=3),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.integers(1, 100) | st.integers(1, 100_000), max_size=50),
)
@settings(max_examples=300)
def test_frames_are_equal_in_any_fragmentation(
    shapes: list[list[int]], sizes: list[int]
) -> None:
    frames: list[Message] = []
    for number, shape in enumerate(shapes, 1):
        buffers = tuple(memoryview(bytes([number]) * size) for size in shape)
        payload = Payload(b"p" * sum(shape[:1]), buffers)
        frames += [
            packed_value(payload, Tag(number), number=number),
            Message(Kind.PROMISE, tag=Tag(number), place=number),
        ]
    data = b"".join(b"".join(pack(frame)) for frame in frames)
    source = WireSource(Pieces(data, sizes))  # type: ignore[arg-type]
    reader = FrameReader(source, Limits(), "x")

    for expected in frames:
        found = reader.read()
        payload = expected.value
        if isinstance(payload, Payload):
            assert isinstance(found, Message)
            assert isinstance(found.value, Payload)
            assert found._replace(value=payload) == expected
            assert bytes(found.value.data) == payload.data
            assert [bytes(each) for each in found.value.buffers] == [
                bytes(each) for each in payload.buffers
            ]
        else:
            assert found == expected
    with pytest.raises(EndOfStreamError) as end:
        reader.read()
    assert end.value.clean


@given(st.lists(st.binary(max_size=5), max_size=6), st.integers(0, 30))
def test_rest_of_pieces_is_what_follows(pieces: list[bytes], size: int) -> None:
    rest = after(pieces, size)

    assert b"".join(rest) == b"".join(pieces)[size:]
    assert all(each.nbytes for each in rest[:1])


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_thousands_of_arrays_arrive(kind: str) -> None:
    """More pieces than one call of the system may have."""
    arrays = [np.full(2500, index) for index in range(3000)]
    with linked(kind) as (first, second):
        value(first, arrays)
        received = second.get().value

    assert all(map(np.array_equal, received, arrays))


def test_signals_do_not_tear_values() -> None:
    """A signal ends a waiting call early; what is missing is received afterwards."""
    import signal

    previous = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with linked() as (first, second):
            block = np.arange(1 << 20)
            block.flags.writeable = False
            thread = second.link._attached._thread  # type: ignore[union-attr]
            for _ in range(10):
                value(first, block)
                for _ in range(20):
                    if thread.ident is not None:
                        signal.pthread_kill(thread.ident, signal.SIGUSR1)
                assert np.array_equal(second.get().value, block)
    finally:
        signal.signal(signal.SIGUSR1, previous)


def test_big_value_is_in_memory_once_at_each_end() -> None:
    """64 MB, in a process of its own: its peak is that of sender and receiver."""
    size = 64 << 20
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            import gc

            block = np.ones(size, np.uint8)
            block.flags.writeable = False
            with linked() as (first, second):
                value(first, 1)
                second.get()
                gc.collect()
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                value(first, block)
                received = second.get().value
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                ok = bool(received[-1] == 1 and received.nbytes == size)
            os.write(writer, f"{ok} {(peak - before) / 1024}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    assert select.select([reader], [], [], HANG)[0]
    ok, mebibytes = os.read(reader, 100).decode().split()
    os.close(reader)
    os.waitpid(pid, 0)

    assert ok == "True"
    assert float(mebibytes) < 64 * 1.25  # the received array itself


def test_sockets_have_no_timeout_left() -> None:
    one, other = connections("tcp")

    for each in (one, other):
        assert each.socket.gettimeout() is None
        assert each.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
