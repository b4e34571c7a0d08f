# SPDX-License-Identifier: Apache-2.0
"""Mutual authentication, before any other byte of a peer is interpreted.

    initiator                                        responder
    hello: version, role, life, digest,
           SHA-256 of its certificate, nonce    ->
                                                <-   hello
    proof: HMAC over both hellos                ->
                                                <-   verdict and proof
    verdict                                     ->
    both certificates and TLS 1.3, if encrypted

All messages have fixed sizes. The key of every HMAC-SHA256 is the run's secret; the
labels differ, so that no message can be reflected, and both nonces are covered, so that
none can be replayed. Before its peer has proved that it knows the secret, a federate
says nothing but its hello; each hello is public. A host in between that relays both
hellos cannot use the connection: TLS accepts only the two certificates that the proofs
cover, and their private keys never leave their processes. Without encryption, a host
that can change packets can change frames, so that is for loopback and trusted
networks.

Refusals name one reason on both sides. Reasons other than version and secret are sent
only to peers that have proved to know the secret.
"""

from __future__ import annotations

import secrets
import ssl
import time
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from reactorl._federation.certificate import CERTIFICATE_BYTES, is_pinned
from reactorl._federation.link_errors import HandshakeError, Refusal
from reactorl._federation.secret import MAC_BYTES
from reactorl._federation.wire import PlainWire, TLSWire

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from reactorl._federation.certificate import Certificate
    from reactorl._federation.secret import RunSecret

VERSION: Final = 1
MAGIC: Final = b"ReactoRL"
COORDINATOR: Final = 2**32 - 1
"""The rank of the coordinator."""

PREFIX: Final = Struct("<8sHH")  # magic, version, size; the same in all versions
HELLO: Final = Struct("<8sHHBBHIIQ32s32s32s")
_PROOF: Final = Struct(f"<Q{MAC_BYTES}s")  # values received so far
_VERDICT: Final = Struct(f"<BQ{MAC_BYTES}s")
_HELLO_MAX: Final = 4096  # of any version
_ENCRYPTED: Final = 1
_NO_FINGERPRINT: Final = bytes(32)
_READY: Final = b"\x06"


class Purpose(IntEnum):
    """What a connection is for."""

    FRAMES = 1
    WATCH = 2  # carries nothing; see watch.py
    JOIN = 3  # to get a job; see launch/joining.py


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this process is in a run.

    Attributes:
        rank: Number of the federate, or ``COORDINATOR``.
        life: How often it was started, from 1. A newer life replaces an older one.
        digest: SHA-256 of the program and its cut.
        secret: The run's secret.
        certificate: For encrypted links; None sends everything in clear.
        timeout: Seconds for a handshake, in all.
    """

    rank: int
    life: int
    digest: bytes
    secret: RunSecret
    certificate: Certificate | None = None
    timeout: float = 10.0


class Admission(NamedTuple):
    """What a process expects of a peer.

    Attributes:
        least_life: Older lives are refused.
        received: How many of its values were received on this link.
        name: For errors.
    """

    least_life: int = 1
    received: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Connection:
    """An authenticated connection. ``received``: how many values the peer has."""

    wire: PlainWire | TLSWire
    rank: int
    life: int
    received: int
    purpose: Purpose
    socket: socket.socket


class _Hello(NamedTuple):
    magic: bytes
    version: int
    size: int
    purpose: int
    flags: int
    reserved: int
    sender: int
    receiver: int
    life: int
    digest: bytes
    fingerprint: bytes
    nonce: bytes


def initiate(
    sock: socket.socket,
    identity: Identity,
    rank: int,
    admission: Admission,
    *,
    purpose: Purpose = Purpose.FRAMES,
) -> Connection:
    """Authenticate a connection that this process has opened.

    Args:
        sock: The connection; closed if the handshake fails.
        identity: Who this process is.
        rank: Who must answer.
        admission: What is expected of it.
        purpose: What the connection is for.

    Raises:
        HandshakeError: Either side refused, or the peer was silent for too long.
    """
    name = admission.name or _role(rank)
    session = _Session(sock, identity, name)
    with session:
        mine = session.hello(rank, purpose)
        session.send(mine)
        theirs, peer = session.receive_hello()
        session.check_version(peer)
        mac = identity.secret.mac
        number = admission.received.to_bytes(8, "little")
        proof = mac(b"initiator", mine, theirs, number)
        session.send(_PROOF.pack(admission.received, proof))
        code, received, proof = _VERDICT.unpack(session.receive(_VERDICT.size))
        answer = bytes([code]) + received.to_bytes(8, "little")
        if not identity.secret.verify(proof, b"responder", mine, theirs, answer):
            session.fail(Refusal.SECRET, by_peer=code == Refusal.SECRET)
        if code:
            session.refused(code)
        reason = session.judge(peer, rank, admission.least_life)
        answer = bytes([reason]) + bytes(8)
        proof = mac(b"final", mine, theirs, answer)
        session.send(_VERDICT.pack(reason, 0, proof))
        if reason:
            session.fail(reason)
        wire = session.finish(peer, purpose, is_server=False)
    return Connection(wire, rank, peer.life, received, purpose, session.socket)


def respond(
    sock: socket.socket,
    identity: Identity,
    admit: Callable[[int], Admission | None],
) -> Connection:
    """Authenticate a connection that this process has accepted.

    Args:
        sock: The connection; closed if the handshake fails.
        identity: Who this process is.
        admit: Returns what is expected of a rank; None refuses it. Called for peers
            that know the secret only.

    Raises:
        HandshakeError: Either side refused, or the peer was silent for too long.
    """
    session = _Session(sock, identity, "a connecting process")
    with session:
        theirs, peer = session.receive_hello()
        mine = session.hello(peer.sender, peer.purpose)
        session.send(mine)
        session.check_version(peer)
        number, proof = _PROOF.unpack(session.receive(_PROOF.size))
        known = identity.secret.verify(
            proof, b"initiator", theirs, mine, number.to_bytes(8, "little")
        )
        if not known:
            session.send(_VERDICT.pack(Refusal.SECRET, 0, bytes(MAC_BYTES)))
            session.fail(Refusal.SECRET)
        admission = admit(peer.sender)
        session.name = (admission and admission.name) or _role(peer.sender)
        reason = Refusal.ROLE
        received = 0
        if admission is not None and peer.purpose in set(Purpose):
            reason = session.judge(peer, peer.sender, admission.least_life)
            received = admission.received
        answer = bytes([reason]) + received.to_bytes(8, "little")
        proof = identity.secret.mac(b"responder", theirs, mine, answer)
        session.send(_VERDICT.pack(reason, received, proof))
        if reason:
            session.fail(reason)
        code, nothing, proof = _VERDICT.unpack(session.receive(_VERDICT.size))
        answer = bytes([code]) + nothing.to_bytes(8, "little")
        if not identity.secret.verify(proof, b"final", theirs, mine, answer):
            session.fail(Refusal.SECRET)
        if code:
            session.refused(code)
        purpose = Purpose(peer.purpose)
        wire = session.finish(peer, purpose, is_server=True)
    return Connection(wire, peer.sender, peer.life, number, purpose, session.socket)


class _Session:
    """One handshake: its socket, its time limit, its errors."""

    def __init__(self, sock: socket.socket, identity: Identity, name: str) -> None:
        self.socket = sock
        self.name = name
        self._identity = identity
        self._deadline = time.monotonic() + identity.timeout

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if error is None:
            return
        self.socket.close()
        if isinstance(error, TimeoutError):
            self.fail(Refusal.SILENCE)
        if isinstance(error, OSError):
            self.fail(Refusal.CLOSED)

    def hello(self, receiver: int, purpose: int) -> bytes:
        identity = self._identity
        certificate = identity.certificate
        return HELLO.pack(
            MAGIC,
            VERSION,
            HELLO.size,
            purpose,
            0 if certificate is None else _ENCRYPTED,
            0,
            identity.rank,
            receiver,
            identity.life,
            identity.digest,
            _NO_FINGERPRINT if certificate is None else certificate.fingerprint,
            secrets.token_bytes(32),
        )

    def receive_hello(self) -> tuple[bytes, _Hello]:
        """Return the peer's hello; of another version, only its beginning counts."""
        prefix = self.receive(PREFIX.size)
        magic, version, size = PREFIX.unpack(prefix)
        if magic != MAGIC:
            self.fail(Refusal.FOREIGN)
        if version != VERSION or size != HELLO.size:
            if PREFIX.size <= size <= _HELLO_MAX:
                # Closing a TCP socket with unread bytes would destroy the answer.
                self.receive(size - PREFIX.size)
            blank = _NO_FINGERPRINT
            return prefix, _Hello(
                magic, version, size, 0, 0, 0, 0, 0, 0, blank, blank, blank
            )
        data = prefix + self.receive(HELLO.size - PREFIX.size)
        return data, _Hello(*HELLO.unpack(data))

    def check_version(self, peer: _Hello) -> None:
        if peer.version != VERSION or peer.size != HELLO.size:
            self.fail(Refusal.VERSION, f", got {peer.version}")

    def judge(self, peer: _Hello, rank: int, least_life: int) -> Refusal:
        """Return why a peer that knows the secret is refused, if it is."""
        identity = self._identity
        if (peer.sender, peer.receiver) != (rank, identity.rank):
            return Refusal.ROLE
        if peer.life < least_life:
            return Refusal.LIFE
        if not secrets.compare_digest(peer.digest, identity.digest):
            return Refusal.DIGEST
        if peer.flags != (_ENCRYPTED if identity.certificate else 0):
            return Refusal.ENCRYPTION
        return Refusal.ACCEPTED

    def finish(
        self, peer: _Hello, purpose: Purpose, *, is_server: bool
    ) -> PlainWire | TLSWire:
        certificate = self._identity.certificate
        if certificate is None or purpose is Purpose.WATCH:
            return PlainWire(self.socket)
        self.send(len(certificate.der).to_bytes(2, "little") + certificate.der)
        size = int.from_bytes(self.receive(2), "little")
        if size > CERTIFICATE_BYTES:
            self.fail(Refusal.CERTIFICATE)
        der = self.receive(size)
        if not is_pinned(der, peer.fingerprint):
            self.fail(Refusal.CERTIFICATE)
        try:
            self.socket.settimeout(self._left())
            wrapped = certificate.wrap(self.socket, der, is_server=is_server)
            self.socket = wrapped
            wrapped.do_handshake()
            if not is_pinned(wrapped.getpeercert(binary_form=True), peer.fingerprint):
                self.fail(Refusal.CERTIFICATE)
            # In TLS 1.3 a client is done before the server has verified it.
            wrapped.sendall(_READY)
            if wrapped.recv(1) != _READY:
                self.fail(Refusal.CERTIFICATE)
        except (ssl.SSLError, ConnectionError):
            self.fail(Refusal.CERTIFICATE)
        return TLSWire(wrapped)

    def send(self, data: bytes) -> None:
        self.socket.settimeout(self._left())
        self.socket.sendall(data)

    def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            self.socket.settimeout(self._left())
            more = self.socket.recv(size - len(data))
            if not more:
                self.fail(Refusal.CLOSED)
            data += more
        return data

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def refused(self, code: int) -> NoReturn:
        """Raise what the peer has found wrong with this process."""
        known = code in set(Refusal) and code != Refusal.ACCEPTED
        self.fail(Refusal(code) if known else Refusal.VERSION, by_peer=True)

    def fail(
        self, reason: Refusal, detail: str = "", *, by_peer: bool = False
    ) -> NoReturn:
        name = self.name
        what = f"{name} refused this process" if by_peer else f"connecting to {name}"
        what += f"{'' if by_peer else ' failed'}: {_REASONS[reason]}{detail}"
        raise HandshakeError(reason, what, peer=name, by_peer=by_peer) from None


_REASONS: Final = {
    Refusal.VERSION: f"the version of links must be {VERSION} on both sides",
    Refusal.SECRET: "the secrets of the two processes differ",
    Refusal.ROLE: "the address belongs to another role in the run",
    Refusal.LIFE: "a newer life of the federate exists",
    Refusal.DIGEST: "the programs, or their cuts, differ",
    Refusal.ENCRYPTION: "one side encrypts, the other does not",
    Refusal.CERTIFICATE: "the certificate is not the one that was agreed on",
    Refusal.SILENCE: "it did not answer in time",
    Refusal.FOREIGN: "it is not a process of reactorl",
    Refusal.CLOSED: "it closed the connection",
}


def _role(rank: int) -> str:
    return "the coordinator" if rank == COORDINATOR else f"federate {rank}"
