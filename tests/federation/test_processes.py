# SPDX-License-Identifier: Apache-2.0
"""Links between processes: addresses, deaths, stopped processes, strangers."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reactorl._federation.certificate import Certificate
from reactorl._federation.endpoint import Address, Listener, connect
from reactorl._federation.frames import Bye
from reactorl._federation.handshake import Admission, Connection, Identity, Purpose
from reactorl._federation.link_errors import (
    HandshakeError,
    LinkError,
    PeerLostError,
    Refusal,
)
from reactorl._federation.messages import Message
from reactorl._federation.secret import RunSecret
from reactorl._federation.watch import Watch
from tests.federation.pairs import DIGEST, HANG, OPEN, End, caught, identity, put

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ECHO = Path(__file__).with_name("echo_federate.py")


class Parent:
    """Federate 0: listens, and has a link to a child process that echoes values."""

    def __init__(self, address: Address, certificate: Certificate | None) -> None:
        self.secret = RunSecret.generate()
        self.end = End("federate 1")
        self.connections: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self.refusals: queue.SimpleQueue[HandshakeError] = queue.SimpleQueue()
        self.identity = identity(0, self.secret, certificate=certificate)
        self.listener = Listener(
            address,
            self.identity,
            lambda rank: Admission(1, self.end.link.received, f"federate {rank}"),
            self.connections.put,
            self.refusals.put,
        )
        self.child: subprocess.Popen[bytes] | None = None

    def start(self, *, encrypt: bool, prefix: tuple[str, ...] = ()) -> int:
        reader, writer = os.pipe()
        self.child = subprocess.Popen(
            [*prefix, sys.executable, ECHO, str(self.listener.address), str(reader),
             "encrypt" if encrypt else "clear", *(["watch"] if prefix else [])],
            pass_fds=[reader],
            cwd=ROOT,
        )  # fmt: skip
        os.close(reader)
        self.secret.send(writer)
        return self.child.pid

    def connection(self) -> Connection:
        return self.connections.get(timeout=HANG)

    def close(self) -> None:
        self.listener.close()
        self.end.link.close(timeout=0)
        if self.child is not None:
            self.child.kill()
            self.child.wait(HANG)
        while not self.connections.empty():
            self.connections.get().socket.close()

    def echo(self, content: object) -> Any:
        put(self.end.link, content, target=1)
        self.end.link.flush()
        return caught(Message, self.end.get()).value


KINDS = ("unix", "tcp", "tls")


@pytest.fixture(params=KINDS)
def parent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Parent]:
    tmp_path.chmod(0o700)
    kind = request.param
    address = (
        Address(path=str(tmp_path / "s"))
        if kind == "unix"
        else Address.parse("127.0.0.1:0")
    )
    made = Parent(address, Certificate() if kind == "tls" else None)
    made.start(encrypt=kind == "tls")
    made.end.link.attach(made.connection())
    try:
        yield made
    finally:
        made.close()


def test_values_go_there_and_back(parent: Parent) -> None:
    array = np.arange(1 << 20)

    assert parent.echo("x") == "x"
    assert np.array_equal(parent.echo(array), array)
    put(parent.end.link, "end", target=1)
    parent.end.link.flush()
    assert parent.end.get() == Bye(0)
    assert parent.end.end() is None
    assert parent.child is not None
    assert parent.child.wait(HANG) == 0


def test_killed_process_is_seen_at_once(parent: Parent) -> None:
    parent.echo(1)
    assert parent.child is not None
    os.kill(parent.child.pid, signal.SIGKILL)

    error = caught(PeerLostError, parent.end.end())
    assert error.peer == "federate 1"
    assert "federate 1 was lost" in str(error)
    assert not error.wire


def test_process_killed_while_values_are_under_way_is_seen(parent: Parent) -> None:
    block = np.zeros(1 << 22, np.uint8)
    block.flags.writeable = False
    assert parent.child is not None
    os.kill(parent.child.pid, signal.SIGSTOP)
    for _ in range(10):
        put(parent.end.link, block, target=1)
        parent.end.link.flush()
    assert parent.end.link.unsent_bytes
    os.kill(parent.child.pid, signal.SIGKILL)

    assert isinstance(parent.end.end(), PeerLostError)


def test_stopped_process_is_not_lost(parent: Parent) -> None:
    """Its kernel answers; values wait. TCP_USER_TIMEOUT would end the connection."""
    parent.echo(1)
    assert parent.child is not None
    os.kill(parent.child.pid, signal.SIGSTOP)
    block = np.zeros(1 << 22, np.uint8)
    for _ in range(4):
        put(parent.end.link, block, target=1)
        parent.end.link.flush()
    time.sleep(1)  # nothing depends on it: any time must be fine
    os.kill(parent.child.pid, signal.SIGCONT)

    assert [item.number for item in parent.end.take(4)] == [2, 3, 4, 5]


def test_connection_that_was_cut_is_continued(parent: Parent) -> None:
    """The child connects again, and each side sends what the other lacks."""
    for index in range(5):
        put(parent.end.link, index, target=1)
    parent.end.link.flush()
    parent.end.link.lose(PeerLostError("cut"))
    assert parent.end.end()
    for index in range(5, 10):
        put(parent.end.link, index, target=1)
    parent.end.link.attach(parent.connection())

    assert [item.value for item in parent.end.take(10)] == list(range(10))


# -- addresses and listeners -----------------------------------------------------------


def test_addresses_are_parsed_and_written() -> None:
    for text, address in {
        "unix:/tmp/x": Address(path="/tmp/x"),
        "host:1234": Address(host="host", port=1234),
        "[::1]:80": Address(host="::1", port=80),
    }.items():
        assert Address.parse(text) == address
        assert str(address) == text
    for text in ("", "host", "unix:", ":5", "host:", "host:65536", "::1:80", "h:-1"):
        with pytest.raises(LinkError, match="must be unix:PATH or HOST:PORT, got"):
            Address.parse(text)
    assert Address.parse("unix:/x").is_local
    assert Address.parse("127.0.0.1:1").is_local
    assert Address.parse("[::1]:1").is_local
    assert not Address.parse("127.example:1").is_local
    assert not Address.parse("10.0.0.1:1").is_local


def listener(address: Address, **options: Any) -> tuple[Listener, Any, Any]:
    accepted: queue.SimpleQueue[Any] = queue.SimpleQueue()
    refused: queue.SimpleQueue[Any] = queue.SimpleQueue()
    who = options.pop("who", None) or identity(0, RunSecret(bytes(32)))

    def accept(connection: Connection) -> None:
        OPEN.append(connection.socket)
        accepted.put(connection)

    made = Listener(address, who, lambda rank: Admission(), accept, refused.put)
    return made, accepted, refused


def other(rank: int = 1, **changes: Any) -> Identity:
    return identity(rank, RunSecret(bytes(32)), **changes)


def test_listener_survives_strangers() -> None:
    made, accepted, refused = listener(Address.parse("127.0.0.1:0"))
    where = (made.address.host, made.address.port)
    for _ in range(5):
        with socket.create_connection(where) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n" * 20)
            assert refused.get(timeout=HANG).reason is Refusal.FOREIGN
    with pytest.raises(HandshakeError) as error:
        connect(made.address, identity(1, RunSecret.generate()), 0, Admission())
    assert error.value.reason is Refusal.SECRET
    assert refused.get(timeout=HANG).reason is Refusal.SECRET

    connection = connect(made.address, other(), 0, Admission())
    assert accepted.get(timeout=HANG).rank == 1
    made.close()
    connection.socket.close()


def test_silent_strangers_keep_nobody_out() -> None:
    """More than there are places for handshakes; they are given up one by one."""
    who = Identity(0, 1, DIGEST, RunSecret(bytes(32)), None, 0.2)
    made, accepted, _ = listener(Address.parse("127.0.0.1:0"), who=who)
    where = (made.address.host, made.address.port)
    strangers = [socket.create_connection(where) for _ in range(100)]
    before = threading.active_count()

    connection = connect(made.address, other(), 0, Admission())
    assert accepted.get(timeout=HANG).rank == 1
    assert threading.active_count() <= before + 40
    made.close()
    for each in (*strangers, connection.socket):
        each.close()


def test_closed_listener_accepts_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    for address in (Address(path=str(tmp_path / "s")), Address.parse("127.0.0.1:0")):
        made, _, _ = listener(address)
        made.close()

        with pytest.raises(
            PeerLostError, match=r"connecting to federate 0 at .* failed"
        ):
            connect(made.address, other(), 0, Admission())
    assert not (tmp_path / "s").exists()


def test_directory_of_a_unix_socket_must_be_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    with pytest.raises(LinkError, match=r"must be yours and have mode 700.*mode 755"):
        listener(Address(path=str(tmp_path / "s")))


def test_address_in_use_is_an_error() -> None:
    made, _, _ = listener(Address.parse("127.0.0.1:0"))

    with pytest.raises(LinkError, match=r"listening at 127.0.0.1:.* failed: .*in use"):
        listener(made.address)
    made.close()


def test_listener_binds_to_the_address_it_is_given() -> None:
    made, _, _ = listener(Address.parse("127.0.0.1:0"))
    try:
        with pytest.raises(OSError, match=r"refused|unreachable|assign"):
            socket.create_connection(("127.0.0.2", made.address.port), 5)
    finally:
        made.close()


def test_connection_that_its_link_refuses_is_reported() -> None:
    end = End("federate 1")
    secret = RunSecret(bytes(32))
    refused: queue.SimpleQueue[LinkError] = queue.SimpleQueue()
    made = Listener(
        Address.parse("127.0.0.1:0"),
        identity(0, secret),
        lambda rank: Admission(),  # a race: the link knows more by now
        end.link.attach,
        refused.put,
    )
    newer = connect(made.address, identity(1, secret, life=2), 0, Admission())
    assert put(end.link, 1) == 1
    end.link.flush()
    assert newer.socket.recv(1)  # it is attached
    older = connect(made.address, identity(1, secret, life=1), 0, Admission())

    assert "life 1 is over" in str(refused.get(timeout=HANG))
    made.close()
    end.link.close(timeout=0)
    for each in (newer, older):
        each.socket.close()


def test_watch_reports_the_end_of_its_peer_once() -> None:
    made, accepted, _ = listener(Address.parse("127.0.0.1:0"))
    mine = connect(made.address, other(), 0, Admission(), purpose=Purpose.WATCH)
    theirs = accepted.get(timeout=HANG)
    ends: queue.SimpleQueue[PeerLostError] = queue.SimpleQueue()
    watch = Watch(theirs, "federate 1", ends.put)

    assert theirs.purpose is Purpose.WATCH
    assert ends.empty()
    mine.socket.close()
    error = ends.get(timeout=HANG)
    assert "federate 1 was lost: its process ended" in str(error)
    assert not error.wire
    watch.close()
    assert ends.empty()
    made.close()


def test_closed_watch_reports_nothing() -> None:
    made, accepted, _ = listener(Address.parse("127.0.0.1:0"))
    mine = connect(made.address, other(), 0, Admission(), purpose=Purpose.WATCH)
    ends: queue.SimpleQueue[PeerLostError] = queue.SimpleQueue()
    watch = Watch(accepted.get(timeout=HANG), "federate 1", ends.put)
    watch.close()

    assert ends.empty()
    assert mine.socket.recv(1) == b""
    mine.socket.close()
    made.close()
