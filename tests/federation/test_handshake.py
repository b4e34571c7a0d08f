# SPDX-License-Identifier: Apache-2.0
"""Mutual authentication: what is accepted, and the error of each side for the rest."""

from __future__ import annotations

import pickle
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl._federation import handshake
from reactorl._federation.certificate import Certificate
from reactorl._federation.handshake import (
    COORDINATOR,
    HELLO,
    Admission,
    Connection,
    Identity,
    Purpose,
    initiate,
    respond,
)
from reactorl._federation.link_errors import HandshakeError, Refusal
from reactorl._federation.secret import RunSecret
from reactorl._federation.wire import PlainWire, TLSWire
from tests.federation.pairs import (
    ANYONE,
    DIGEST,
    HANG,
    PAIRS,
    both,
    caught,
    identity,
    shake,
    tcp_pair,
    unix_pair,
)
from tests.federation.relays import (
    PROOF_BYTES,
    SECRET,
    VERDICT_BYTES,
    Proxy,
    received_all,
    recorded,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER = RunSecret(bytes(range(1, 33)))


@pytest.mark.parametrize("kind", PAIRS)
def test_both_sides_know_who_the_other_is(kind: str) -> None:
    first, second = shake(
        PAIRS[kind](),
        identity(7, SECRET, life=3),
        identity(1, SECRET, life=5),
        expected=Admission(5, 11),
        admit=lambda rank: Admission(2, 100 + rank),
    )

    assert isinstance(first, Connection)
    assert isinstance(second, Connection)
    assert (first.rank, first.life, first.received) == (1, 5, 107)
    assert (second.rank, second.life, second.received) == (7, 3, 11)
    assert first.purpose is second.purpose is Purpose.FRAMES
    assert isinstance(first.wire, PlainWire)
    first.wire.close()
    second.wire.close()


def test_coordinator_is_a_role() -> None:
    first, second = shake(
        unix_pair(),
        identity(2, SECRET),
        identity(COORDINATOR, SECRET),
        rank=COORDINATOR,
    )

    assert first.rank == COORDINATOR
    assert second.rank == 2


def test_connections_are_encrypted_with_tls_1_3() -> None:
    first, second = shake(
        tcp_pair(),
        identity(0, SECRET, certificate=Certificate()),
        identity(1, SECRET, certificate=Certificate()),
    )

    assert isinstance(first.wire, TLSWire)
    assert first.socket.version() == second.socket.version() == "TLSv1.3"
    first.wire.close()
    second.wire.close()


def test_watches_carry_nothing_and_are_not_encrypted() -> None:
    first, second = shake(
        tcp_pair(),
        identity(0, SECRET, certificate=Certificate()),
        identity(1, SECRET, certificate=Certificate()),
        purpose=Purpose.WATCH,
    )

    assert second.purpose is Purpose.WATCH
    assert isinstance(first.wire, PlainWire)
    first.wire.close()
    second.wire.close()


def two(**changes: object) -> Callable[[], tuple[object, object]]:
    """Return a handshake with changes of either side."""
    first = {"rank": 0, "secret": SECRET, **changes.pop("first", {})}  # type: ignore[dict-item]
    second = {"rank": 1, "secret": SECRET, **changes.pop("second", {})}  # type: ignore[dict-item]
    return lambda: shake(
        tcp_pair(),
        identity(**first),  # type: ignore[arg-type]
        identity(**second),  # type: ignore[arg-type]
        **changes,  # type: ignore[arg-type]
    )


CASES: dict[str, tuple[Callable[[], tuple[object, object]], Refusal, bool]] = {
    "initiator's secret": (two(first={"secret": OTHER}), Refusal.SECRET, False),
    "responder's secret": (two(second={"secret": OTHER}), Refusal.SECRET, False),
    "address of another federate": (two(second={"rank": 2}), Refusal.ROLE, False),
    "rank that is not a neighbour": (
        two(admit=lambda rank: None),
        Refusal.ROLE,
        False,
    ),
    "initiator's life": (two(admit=lambda rank: Admission(2)), Refusal.LIFE, False),
    "responder's life": (two(expected=Admission(2)), Refusal.LIFE, True),
    "initiator's digest": (two(first={"digest": bytes(32)}), Refusal.DIGEST, False),
    "responder's digest": (two(second={"digest": bytes(32)}), Refusal.DIGEST, False),
    "initiator in clear": (
        two(second={"certificate": Certificate()}),
        Refusal.ENCRYPTION,
        False,
    ),
    "responder in clear": (
        two(first={"certificate": Certificate()}),
        Refusal.ENCRYPTION,
        False,
    ),
}
"""Handshakes, the reason why they fail, and whether the initiator finds it."""


@pytest.mark.parametrize("name", CASES)
def test_each_mismatch_is_its_own_error_on_both_sides(name: str) -> None:
    run, reason, by_initiator = CASES[name]
    first, second = run()

    one = refused(first, reason, by_peer=not by_initiator)
    other = refused(second, reason, by_peer=by_initiator)
    assert one.remedy
    assert one.remedy == other.remedy
    assert one.peer == "federate 1"
    # Who is not known to have the secret has no name.
    expected = "a connecting process" if reason == Refusal.SECRET else "federate 0"
    assert other.peer == expected


@pytest.mark.parametrize("side", ["initiator", "responder"])
def test_version_mismatch_is_found_by_both_sides(
    side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = HELLO.pack

    class Newer:
        """Hellos of one thread are of version 2, and longer."""

        size = HELLO.size
        unpack = HELLO.unpack

        def pack(self, *fields: object) -> bytes:
            if threading.current_thread().name != side:
                return pack(*fields)
            return pack(fields[0], 2, HELLO.size + 8, *fields[3:]) + bytes(8)

    monkeypatch.setattr(handshake, "HELLO", Newer())

    def named(name: str, function: Callable[[], object]) -> Callable[[], object]:
        def call() -> object:
            threading.current_thread().name = name
            return function()

        return call

    sockets = tcp_pair()
    results = both(
        named(
            "initiator",
            lambda: initiate(sockets[0], identity(0, SECRET), 1, Admission()),
        ),
        named(
            "responder",
            lambda: respond(sockets[1], identity(1, SECRET), lambda rank: Admission()),
        ),
    )
    old = results[1] if side == "initiator" else results[0]

    error = refused(old, Refusal.VERSION, by_peer=False)
    assert "must be 1 on both sides, got 2" in str(error)
    # The newer one sees version 1, which it would report in the same way.
    assert caught(HandshakeError, results[0] if side == "initiator" else results[1])


def test_errors_contain_nothing_secret() -> None:
    keys = [bytes(range(32)), bytes(range(1, 33)), DIGEST]
    for run, _, _ in CASES.values():
        for error in run():
            text = f"{error!r} {error} {vars(error)} {pickle.dumps(error)!r}"  # type: ignore[arg-type]
            for key in keys:
                assert key.hex() not in text
                assert repr(key)[2:-1] not in text


def test_errors_survive_pickling() -> None:
    for run, _, _ in CASES.values():
        for error in run():
            again = pickle.loads(pickle.dumps(error))
            assert str(again) == str(error)
            assert vars(again) == vars(error)


def test_nothing_is_sent_before_the_secret_is_proved_but_a_hello() -> None:
    """A stranger learns only what every hello says, and that its proof is wrong."""
    asked = []

    def admit(rank: int) -> Admission:
        asked.append(rank)
        return Admission(received=12345)

    mine, theirs = tcp_pair()

    def stranger() -> bytes:
        hello = HELLO.pack(
            b"ReactoRL", 1, HELLO.size, 1, 0, 0, 0, 1, 1, DIGEST, bytes(32), bytes(32)
        )
        mine.sendall(hello + bytes(PROOF_BYTES))
        return received_all(mine)

    answer, error = both(stranger, lambda: respond(theirs, identity(1, SECRET), admit))

    refused(error, Refusal.SECRET, by_peer=False)
    assert len(answer) == HELLO.size + VERDICT_BYTES
    assert answer[HELLO.size] == Refusal.SECRET
    assert not any(answer[HELLO.size + 1 :])
    assert asked == []


def test_relay_that_changes_nothing_is_a_wire() -> None:
    first, second = Proxy().run()

    assert isinstance(first, Connection)
    assert isinstance(second, Connection)


SIZES = (HELLO.size + PROOF_BYTES + VERDICT_BYTES, HELLO.size + VERDICT_BYTES)


@pytest.mark.parametrize(
    ("side", "position"),
    [(side, at) for side in range(2) for at in range(0, SIZES[side], 3)],
)
def test_no_byte_of_a_handshake_can_be_changed(side: int, position: int) -> None:
    def change(at_side: int, start: int, data: bytes) -> bytes:
        at = position - start
        if at_side != side or not 0 <= at < len(data):
            return data
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    first, second = Proxy(change).run(first={"timeout": 2.0}, second={"timeout": 2.0})

    # The last message may fail at the responder only.
    assert isinstance(second, HandshakeError) or isinstance(first, HandshakeError)
    if position < HELLO.size + PROOF_BYTES:
        assert isinstance(first, HandshakeError)


def test_replayed_handshake_is_refused_by_the_responder() -> None:
    first, _ = recorded(0)
    mine, theirs = tcp_pair()

    def replay() -> bytes:
        mine.sendall(first)
        return received_all(mine)

    _, error = both(
        replay,
        lambda: respond(theirs, identity(1, SECRET), lambda rank: Admission()),
    )

    refused(error, Refusal.SECRET, by_peer=False)


def test_replayed_handshake_is_refused_by_the_initiator() -> None:
    _, second = recorded(1)
    mine, theirs = tcp_pair()

    def replay() -> bytes:
        theirs.sendall(second)
        return received_all(theirs)

    error, _ = both(lambda: initiate(mine, identity(0, SECRET), 1, Admission()), replay)

    refused(error, Refusal.SECRET, by_peer=False)


def test_own_messages_cannot_be_reflected() -> None:
    mine, theirs = tcp_pair()

    def reflect() -> None:
        with suppress(OSError):
            while data := theirs.recv(1 << 16):
                theirs.sendall(data)
        theirs.close()

    error, _ = both(
        lambda: initiate(mine, identity(0, SECRET, timeout=5), 0, Admission()), reflect
    )

    assert caught(HandshakeError, error).reason in (
        Refusal.SECRET,
        Refusal.SILENCE,  # a proof has one byte less than a verdict
    )


@pytest.mark.parametrize("position", [0, 1, 20, HELLO.size, HELLO.size + 39])
def test_silent_peer_is_given_up(position: int) -> None:
    """The limit is for the whole handshake: single bytes do not extend it."""
    first, _ = recorded(0)
    mine, theirs = tcp_pair()
    mine.sendall(first[:position])

    with pytest.raises(HandshakeError) as error:
        respond(theirs, identity(1, SECRET, timeout=0.2), lambda rank: Admission())

    refused(error.value, Refusal.SILENCE, by_peer=False)
    assert theirs.fileno() == -1
    mine.close()


def test_peer_that_sends_slowly_is_given_up() -> None:
    mine, theirs = tcp_pair()
    over = threading.Event()

    def drip() -> None:
        with suppress(OSError):
            for byte in HELLO.pack(
                b"ReactoRL", 1, HELLO.size, 1, 0, 0, 0, 1, 1, *[bytes(32)] * 3
            ):
                mine.sendall(bytes([byte]))
                if over.wait(0.05):
                    return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    with pytest.raises(HandshakeError) as error:
        respond(theirs, identity(1, SECRET, timeout=0.5), lambda rank: Admission())
    over.set()
    thread.join(HANG)

    refused(error.value, Refusal.SILENCE, by_peer=False)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n" * 20,
        b"\x16\x03\x01" + bytes(500),
        b"SSH-2.0-x\r\n" * 9,
    ],
)
def test_other_protocols_get_no_answer(data: bytes) -> None:
    mine, theirs = tcp_pair()

    def speak() -> bytes:
        mine.sendall(data)
        return received_all(mine)

    answer, error = both(
        speak, lambda: respond(theirs, identity(1, SECRET), lambda rank: Admission())
    )

    refused(error, Refusal.FOREIGN, by_peer=False)
    assert answer == b""


def answer(sock: socket.socket, who: Identity) -> Connection:
    return respond(sock, who, lambda rank: Admission())


@given(data=st.binary(max_size=300), magic=st.booleans())
@settings(max_examples=200)
def test_arbitrary_bytes_are_refused(data: bytes, *, magic: bool) -> None:
    for answers in (False, True):
        mine, theirs = unix_pair()
        mine.sendall((b"ReactoRL\x01\0" if magic else b"") + data)
        mine.shutdown(socket.SHUT_WR)
        who = identity(1, SECRET)
        with pytest.raises(HandshakeError):
            _ = answer(theirs, who) if answers else initiate(theirs, who, 0, ANYONE)
        mine.close()
