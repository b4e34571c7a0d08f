# SPDX-License-Identifier: Apache-2.0
"""Numbered values: sent again, dropped, acknowledged; lives of a federate."""

from __future__ import annotations

import random

import numpy as np
import pytest

from reactorl._federation.frames import Ack
from reactorl._federation.link_errors import (
    HandshakeError,
    LinkError,
    PeerLostError,
)
from reactorl._federation.messages import Message
from tests.federation.pairs import (
    HANG,
    End,
    connections,
    demand,
    linked,
    put,
    value,
)


def test_values_are_sent_again_over_a_new_connection() -> None:
    with linked() as (first, second):
        for index in range(5):
            value(first, index)
        assert [item.value for item in second.take(5)] == [0, 1, 2, 3, 4]
        for end in (first, second):
            end.link.lose(PeerLostError("cut"))
            end.end()
        value(first, 5)
        value(first, np.arange(3))
        value(second, "back")

        one, other = connections(received=(0, 5))
        first.link.attach(one)
        second.link.attach(other)
        assert [item.number for item in second.take(2)] == [6, 7]
        assert first.get().value == "back"
        assert value(first, 7) == 8
        assert second.get().number == 8


def test_values_that_were_received_before_are_dropped() -> None:
    """The sender starts again from an older checkpoint, and repeats itself."""
    first, second = End("second"), End("first")
    one, other = connections()
    first.link.attach(one)
    second.link.attach(other)
    for index in range(5):
        value(first, index)
    second.take(5)
    first.link.lose(PeerLostError("killed"))
    assert second.end()

    again = End("second")
    again.link.restore(sent=2, received=0)
    one, other = connections(lives=(2, 1), received=(0, 5))
    again.link.attach(one)
    second.link.attach(other)
    for index in range(2, 8):
        value(again, index)
        again.send(demand(index))

    items = [second.get() for _ in range(6 + 3)]
    assert [each.value for each in items if each.number] == [5, 6, 7]
    assert second.link.received == 8
    assert second.link.life == 2
    for end in (again, second):
        end.link.close(timeout=0)


def test_new_life_of_the_receiver_gets_what_its_checkpoint_lacks() -> None:
    first, second = End("second"), End("first")
    one, other = connections()
    first.link.attach(one)
    second.link.attach(other)
    for index in range(6):
        value(first, index)
    second.take(6)
    second.send(Ack(2))
    put(second.link, "marker")
    second.link.flush()
    assert first.get().value == "marker"  # the ACK has arrived before
    assert len(first.link._kept) == 4
    second.link.lose(PeerLostError("killed"))
    assert first.end()

    again = End("first")
    again.link.restore(sent=0, received=2)
    one, other = connections(lives=(1, 2), received=(1, 2))
    first.link.attach(one)
    again.link.attach(other)

    assert [(item.number, item.value) for item in again.take(4)] == [
        (3, 2), (4, 3), (5, 4), (6, 5),
    ]  # fmt: skip
    assert put(again.link, "marker") == 1
    again.link.flush()  # dropped by the first
    assert put(again.link, "new") == 2
    again.link.flush()
    assert first.get().value == "new"
    for end in (again, first):
        end.link.close(timeout=0)


def test_acknowledged_values_are_forgotten() -> None:
    with linked() as (first, second):
        for _index in range(10):
            value(first, bytes(1000))
        kept = first.link.kept_bytes
        assert kept > 10_000
        second.take(10)
        second.send(Ack(10), demand(1))
        assert first.get() == demand(1)

        assert first.link.kept_bytes == 0
        assert not first.link._kept


def test_values_are_not_kept_if_nobody_will_ask() -> None:
    with linked(keep=False) as (first, second):
        value(first, bytes(1000))
        second.get()
        assert first.link.kept_bytes == 0
        first.link.lose(PeerLostError("cut"))
        first.end()
        second.end()

        one, other = connections()
        with pytest.raises(LinkError, match="asked for value 1, but values before 2"):
            first.link.attach(one)
        other.wire.close()


def test_older_life_is_refused() -> None:
    first = End("second")
    one, other = connections(lives=(1, 3))
    first.link.attach(one)
    old, peer = connections(lives=(1, 2))

    with pytest.raises(HandshakeError, match="life 2 is over, it is in life 3"):
        first.link.attach(old)
    assert first.link.is_connected
    assert first.link.life == 3
    first.link.close(timeout=0)
    for each in (other, peer):
        each.wire.close()


def test_newer_life_replaces_a_connection_that_seems_alive() -> None:
    first, second, newer = End("second"), End("first"), End("first")
    one, other = connections()
    first.link.attach(one)
    second.link.attach(other)
    value(first, 1)
    assert second.get().value == 1

    one, other = connections(lives=(1, 2))
    first.link.attach(one)
    newer.link.attach(other)

    assert newer.get().value == 1
    assert isinstance(second.end(), PeerLostError)
    assert isinstance(first.end(), PeerLostError)
    value(first, 2)
    assert newer.get().value == 2
    for end in (first, newer):
        end.link.close(timeout=0)


def test_frames_without_a_connection_are_forgotten_but_values_kept() -> None:
    first, second = End("second"), End("first")
    first.send(demand(1))
    value(first, "kept")
    first.send(demand(2))
    one, other = connections()
    first.link.attach(one)
    second.link.attach(other)
    first.send(demand(3))

    assert second.get().value == "kept"
    assert second.get() == demand(3)
    for end in (first, second):
        end.link.close(timeout=0)


def test_numbers_are_restored_before_use_only() -> None:
    with linked() as (first, _), pytest.raises(LinkError, match="before it is used"):
        first.link.restore(sent=1, received=1)


def test_any_schedule_of_cuts_delivers_each_value_once() -> None:
    """A cut connection loses what was under way, in both directions."""
    for seed in range(10):
        rng = random.Random(seed)
        first, second = End("second"), End("first")
        sent: tuple[list[int], list[int]] = ([], [])
        for _ in range(6):
            one, other = connections(
                received=(first.link.received, second.link.received)
            )
            first.link.attach(one)
            second.link.attach(other)
            for _ in range(rng.randrange(30)):
                index = rng.randrange(2)
                end = (first, second)[index]
                sent[index].append(len(sent[index]))
                value(end, sent[index][-1])
                if rng.random() < 0.2:
                    end.send(demand(1))
            rng.choice((first, second)).link.lose(PeerLostError("cut"))
            for end in (first, second):
                assert end.end() is not None
        one, other = connections(received=(first.link.received, second.link.received))
        first.link.attach(one)
        second.link.attach(other)
        first.link.close(timeout=HANG)
        assert second.end() is None
        second.link.close(timeout=0)

        for end, expected in ((second, sent[0]), (first, sent[1])):
            found = []
            while not end.items.empty():
                item = end.items.get()
                if isinstance(item, Message) and item.number:
                    found.append(item.value)
            if end is second:
                assert found == expected, seed
            else:
                assert found == expected[: len(found)], seed
