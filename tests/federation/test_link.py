# SPDX-License-Identifier: Apache-2.0
"""Links: order, numbers, resending, lives, backpressure, and how connections end."""

from __future__ import annotations

import socket
import threading
from typing import Any

import numpy as np
import pytest

from reactorl._federation import link as link_module
from reactorl._federation.codec import ALIGNMENT, Payload, encode
from reactorl._federation.frames import Ack, Bye, Failed
from reactorl._federation.link import Link
from reactorl._federation.link_errors import (
    CodecError,
    FrameError,
    LinkError,
    PeerLostError,
)
from reactorl._federation.messages import Kind, Message
from reactorl._federation.wire_format import pack
from reactorl.tag import Tag
from tests.federation.pairs import (
    HANG,
    End,
    caught,
    connections,
    demand,
    linked,
    packed_value,
    put,
    value,
)

KINDS = ("unix", "tcp", "tls")


@pytest.mark.parametrize("kind", KINDS)
def test_frames_arrive_in_order(kind: str) -> None:
    with linked(kind) as (first, second):
        for index in range(200):
            late = Message(Kind.LATE, place=index, at=Tag(index, 1))
            promise = Message(Kind.PROMISE, tag=Tag(index), at=Tag(index + 1))
            number = first.link.put_value(late._replace(value=encode({"x": index})))
            first.link.put(promise)
            first.link.put(demand(index))
            first.link.flush()

            assert number == index + 1
            assert second.take(3) == [
                late._replace(value={"x": index}, number=number),
                promise,
                demand(index),
            ]
        assert (first.link.sent, second.link.received) == (200, 200)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_arrive_equal_aligned_and_read_only(kind: str) -> None:
    arrays = [
        np.arange(size, dtype="f4").reshape(-1, 1) for size in (0, 1, 5, 5_000, 300_000)
    ]
    with linked(kind) as (first, second):
        value(first, arrays)
        received = second.get().value

    for array, original in zip(received, arrays, strict=True):
        np.testing.assert_array_equal(array, original)
        assert not array.flags.writeable
        if array.size:
            assert array.ctypes.data % ALIGNMENT == 0


def test_flush_is_one_call_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    with linked() as (first, second):
        attached = first.link._attached
        assert attached is not None
        calls = []
        send = attached._wire.send_now

        def counted(pieces: Any) -> int:
            calls.append(len(pieces))
            return send(pieces)

        monkeypatch.setattr(attached._wire, "send_now", counted)
        for index in range(10):
            put(first.link, index, target=index)
        first.link.put(demand())
        first.link.flush()
        first.link.flush()  # nothing is left

        assert len(second.take(11)) == 11
        assert len(calls) == 1
    assert max(second.batches) > 1  # and is handed over together


@pytest.mark.parametrize("kind", KINDS)
def test_both_directions_at_once_without_waiting_for_each_other(kind: str) -> None:
    """Each side sends 64 MB before it takes anything: no buffer has that room."""
    block = np.arange(1 << 18)  # 2 MiB
    block.flags.writeable = False
    count = 32
    with linked(kind) as ends:

        def send(end: End) -> None:
            for _ in range(count):
                put(end.link, block)
                end.link.flush(wait=True)

        threads = [threading.Thread(target=send, args=[end]) for end in ends]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
            assert not thread.is_alive()
        for end in ends:
            for item in end.take(count):
                assert np.array_equal(item.value, block)


def test_waiting_flush_limits_what_is_unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 1 << 20
    monkeypatch.setattr(link_module, "UNSENT_BYTES", limit)
    one, other = connections()
    first = End("second")
    first.link.attach(one)
    block = np.zeros(limit, np.uint8)
    block.flags.writeable = False
    done = threading.Event()
    least = []

    def send() -> None:
        for _ in range(20):
            put(first.link, block)
            first.link.flush(wait=True)
            least.append(first.link.unsent_bytes)
        done.set()

    thread = threading.Thread(target=send)
    thread.start()
    assert not done.wait(0.5)  # nothing is received: it must wait, however long
    assert first.link.unsent_bytes <= 2 * limit + 1000
    second = End("first")
    second.link.attach(other)
    assert done.wait(HANG)
    thread.join()
    assert max(least) <= limit
    assert len(second.take(20)) == 20
    for end in (first, second):
        end.link.close(timeout=0)


def test_flush_without_waiting_returns_although_nothing_is_received() -> None:
    one, other = connections()
    first, second = End("second"), End("first")
    first.link.attach(one)
    block = np.arange(1 << 20, dtype="u1")
    block.flags.writeable = False
    for _ in range(100):
        value(first, block)
    assert first.link.unsent_bytes > 90 << 20

    second.link.attach(other)
    for item in second.take(100):
        assert np.array_equal(item.value, block)
    for end in (first, second):
        end.link.close(timeout=0)


def test_waiting_flush_ends_when_the_peer_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_module, "UNSENT_BYTES", 1000)
    one, other = connections()
    first = End("second")
    first.link.attach(one)
    threading.Timer(0.2, other.wire.stop).start()

    put(first.link, bytes(1 << 22))
    first.link.flush(wait=True)

    assert isinstance(first.end(), PeerLostError)


# -- the end ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_farewell_arrives_after_everything_else(kind: str) -> None:
    block = np.zeros(5 << 20, np.uint8)
    with linked(kind) as (first, second):
        value(first, block)
        first.link.close(3, timeout=HANG)

        assert np.array_equal(second.get().value, block)
        assert second.get() == Bye(3)
        assert second.end() is None
        assert first.end() is None


@pytest.mark.parametrize("kind", KINDS)
def test_both_can_say_farewell_at_once(kind: str) -> None:
    with linked(kind) as (first, second):
        threads = [
            threading.Thread(target=end.link.close, kwargs={"timeout": HANG})
            for end in (first, second)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
        assert first.end() is None
        assert second.end() is None
        assert not first.link.is_connected


@pytest.mark.parametrize("kind", KINDS)
def test_end_without_a_farewell_is_an_error_that_names_the_peer(kind: str) -> None:
    with linked(kind) as (first, second):
        attached = second.link._attached
        assert attached is not None
        attached.stop()

        error = caught(PeerLostError, first.end())
        assert error.peer == "second"
        assert "the connection to second was lost" in str(error)
        assert not error.wire
        assert not first.link.is_connected
        value(first, 1)  # kept, not an error
        first.send(demand(1))


@pytest.mark.parametrize("kind", KINDS)
def test_last_words_arrive_although_the_peer_is_sending(kind: str) -> None:
    block = np.zeros(1 << 21, np.uint8)
    with linked(kind) as (first, second):
        for _ in range(20):
            value(second, block)
        failed = Failed({"error": "x"}, Payload(b""))
        first.send(failed)
        first.link.close(1, timeout=HANG)

        assert second.get() == failed
        assert second.get() == Bye(1)
        assert second.end() is None
        assert first.end() is None


def test_end_within_a_frame_is_an_error() -> None:
    one, other = connections()
    first = End("second")
    first.link.attach(one)
    data = b"".join(pack(packed_value(bytes(100), Tag(1), number=1)))
    other.socket.sendall(data[:-1])
    other.socket.shutdown(socket.SHUT_WR)

    assert "it ended within a frame" in str(first.end())
    other.wire.close()


def test_loss_that_a_watch_has_noticed_ends_the_connection() -> None:
    with linked() as (first, _):
        error = PeerLostError("the wire is dead", peer="second", wire=True)
        first.link.lose(error)

        assert first.end() is error


def test_loss_of_an_older_life_does_not_end_the_connection() -> None:
    with linked() as (first, second):
        first.link.lose(PeerLostError("the wire is dead"), life=0)
        value(first, "x")

        assert second.get().value == "x"
        assert first.link.is_connected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"garbage" * 10, "must begin with b'RL'"),
        (
            b"".join(pack(packed_value(1, Tag(1), number=2))),
            "value 2 after value 0",
        ),
        (b"".join(pack(Ack(1))), "acknowledged value 1 of 0"),
    ],
)
def test_wrong_frames_end_the_connection(data: bytes, message: str) -> None:
    one, other = connections()
    first = End("second")
    first.link.attach(one)
    other.socket.sendall(data)

    error = caught(FrameError, first.end())
    assert message in str(error)
    assert error.peer == "second"
    other.wire.close()


def test_value_that_cannot_be_made_here_ends_the_connection() -> None:
    with linked() as (first, second):
        data = encode(Tag(1)).data.replace(b"reactorl", b"reactorx")
        put(first.link, Payload(data))
        first.link.flush()

        error = caught(CodecError, second.end())
        assert "in value 1 from first" in str(error)


def test_error_of_the_receiver_ends_the_connection() -> None:
    def fail(batch: object) -> None:
        msg = "ups"
        raise ZeroDivisionError(msg)

    one, other = connections()
    first, second = End("second"), End("first")
    second.link = Link("first", fail, second.ends.put)
    first.link.attach(one)
    second.link.attach(other)
    first.send(demand(1))

    error = caught(LinkError, second.end())
    assert "handling what first sent failed: ZeroDivisionError: ups" in str(error)
    assert isinstance(error.__cause__, ZeroDivisionError)
    first.link.close(timeout=0)


def test_threads_and_sockets_end_with_the_connection() -> None:
    before = threading.active_count()
    with linked() as (first, second):
        value(first, np.zeros(10 << 20, np.uint8))
        second.get()
        assert threading.active_count() >= before + 2
    deadline = threading.Event()
    while threading.active_count() > before and not deadline.wait(0.01):
        pass
    assert first.link._attached is None
    assert second.link._attached is None


def test_value_with_a_number_that_is_not_the_next_is_refused() -> None:
    link = Link("second", lambda batch: None, lambda error: None)

    with pytest.raises(LinkError, match="to second must have number 1, got 2"):
        link.put_value(packed_value("x", Tag(1), number=2))
    assert link.sent == 0
    assert link.put_value(packed_value("x", Tag(1), number=1)) == 1
