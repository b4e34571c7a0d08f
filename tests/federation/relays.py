# SPDX-License-Identifier: Apache-2.0
"""Hosts between two federates, which relay and change what they relay."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from reactorl._federation.certificate import Certificate
from reactorl._federation.handshake import (
    HELLO,
)
from reactorl._federation.link_errors import HandshakeError, Refusal
from reactorl._federation.secret import RunSecret
from tests.federation.pairs import (
    HANG,
    caught,
    identity,
    shake,
    tcp_pair,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = RunSecret(bytes(range(32)))
PROOF_BYTES = 40
VERDICT_BYTES = 41


def refused(result: object, reason: Refusal, *, by_peer: bool) -> HandshakeError:
    error = caught(HandshakeError, result)
    assert (error.reason, error.by_peer) == (reason, by_peer), error
    return error


def received_all(sock: socket.socket) -> bytes:
    data = b""
    sock.settimeout(HANG)
    with suppress(ConnectionError):
        while more := sock.recv(1 << 16):
            data += more
    return data


def recorded(side: int) -> tuple[bytes, bytes]:
    """Return what initiator and responder of a handshake have sent."""
    proxy = Proxy()
    proxy.run()
    return proxy.sent[0], proxy.sent[1]


class Proxy:
    """A host between two federates, which relays and may change what it relays."""

    def __init__(
        self, change: Callable[[int, int, bytes], bytes] = lambda s, p, data: data
    ) -> None:
        self.sent = [b"", b""]
        self.change = change

    def run(self, **options: object) -> tuple[object, object]:
        initiator, near = tcp_pair()
        far, responder = tcp_pair()
        threads = [
            threading.Thread(target=self._relay, args=each, daemon=True)
            for each in ((0, near, far), (1, far, near))
        ]
        for thread in threads:
            thread.start()
        first = options.pop("first", {})
        second = options.pop("second", {})
        results = shake(
            (initiator, responder),
            identity(0, SECRET, **first),  # type: ignore[arg-type]
            identity(1, SECRET, **second),  # type: ignore[arg-type]
            **options,  # type: ignore[arg-type]
        )
        for each in (near, far):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(HANG)
        return results

    def _relay(self, side: int, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                position = len(self.sent[side])
                self.sent[side] += data
                target.sendall(self.change(side, position, data))
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class Interceptor:
    """A host in between that ends TLS on both sides with certificates of its own."""

    def __init__(self, *, announce: bool) -> None:
        self.announce = announce
        self.certificate = Certificate()
        self.read: list[bytes] = []

    def run(self) -> tuple[object, object]:
        initiator, near = tcp_pair()
        far, responder = tcp_pair()
        thread = threading.Thread(target=self._relay, args=(near, far), daemon=True)
        thread.start()
        results = shake(
            (initiator, responder),
            identity(0, SECRET, certificate=Certificate()),
            identity(1, SECRET, certificate=Certificate()),
        )
        thread.join(HANG)
        return results

    def _relay(self, near: socket.socket, far: socket.socket) -> None:
        for source, target, size in (
            (near, far, HELLO.size),
            (far, near, HELLO.size),
            (near, far, PROOF_BYTES),
            (far, near, VERDICT_BYTES),
            (near, far, VERDICT_BYTES),
        ):
            target.sendall(exactly(source, size))
        ends = []
        for sock in (near, far):
            der = exactly(sock, int.from_bytes(exactly(sock, 2), "little"))
            ends.append((sock, der))
        for (sock, _), (_, theirs) in zip(ends, reversed(ends), strict=True):
            own = self.certificate.der if self.announce else theirs
            sock.sendall(len(own).to_bytes(2, "little") + own)
        workers = [
            threading.Thread(
                target=self._end, args=(sock, der), kwargs={"is_server": sock is near}
            )
            for sock, der in ends
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(HANG)

    def _end(self, sock: socket.socket, der: bytes, *, is_server: bool) -> None:
        wrapped = self.certificate.wrap(sock, der, is_server=is_server)
        with suppress(OSError):
            wrapped.do_handshake()
            self.read.append(wrapped.recv(100))
        wrapped.close()


def exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        assert more
        data += more
    return data
