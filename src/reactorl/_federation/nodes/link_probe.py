# SPDX-License-Identifier: Apache-2.0
"""Latency, bandwidth and clock offset between two processes, over links of federates.

The measured connection is one of a run: the same handshake, and TLS between machines.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, Final, Self

from reactorl._federation.certificate import Certificate
from reactorl._federation.endpoint import Address, Listener, connect
from reactorl._federation.handshake import Admission, Identity, Purpose
from reactorl._federation.wire import EndOfStreamError, WireSource, after

if TYPE_CHECKING:
    from reactorl._federation.handshake import Connection
    from reactorl._federation.secret import RunSecret
    from reactorl._federation.wire import PlainWire, TLSWire

_SERVER: Final = 0
_CLIENT: Final = 1
_DIGEST: Final = sha256(b"reactorl link probe 1").digest()
_SIZE: Final = Struct("<Q")
_CLOCK: Final = Struct("<q")
_EXCHANGES: Final = 30
_LARGE: Final = 8 << 20
_REPEATS: Final = 3
_MAX_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class LinkFigures:
    """What was measured.

    Attributes:
        latency: Of a small message there and back, in seconds; the shortest of some.
        bandwidth: Bytes per second in one direction, of a large message.
        clock_offset: How much the other clock is ahead, in seconds; wrong by at most
            half of the latency.
        encrypted: Whether the link is.
    """

    latency: float
    bandwidth: float
    clock_offset: float
    encrypted: bool


class LinkProbe:
    """Answers measurements at an address, until it is closed.

    Args:
        host: Name or number of this host, as others use it.
        secret: What those who measure must know.
        encrypt: Whether links are encrypted; None: unless the host is this machine.
    """

    def __init__(
        self, host: str, secret: RunSecret, *, encrypt: bool | None = None
    ) -> None:
        self._answering: list[tuple[Connection, threading.Thread]] = []
        identity = _identity(_SERVER, secret, Address(host=host), encrypt=encrypt)
        self._listener = Listener(
            Address(host=host),
            identity,
            lambda rank: Admission(name="a probe") if rank == _CLIENT else None,
            self._accept,
            lambda _: None,  # strangers are left alone
        )

    @property
    def address(self) -> str:
        """Where to connect to."""
        return str(self._listener.address)

    def __enter__(self) -> Self:
        """Do nothing; it answers already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Answer nothing more."""
        self._listener.close()
        for connection, thread in self._answering:
            connection.wire.stop()
            thread.join()
            connection.wire.close()

    def _accept(self, connection: Connection) -> None:
        thread = threading.Thread(
            target=_answer, args=[connection.wire], name="link probe", daemon=True
        )
        self._answering.append((connection, thread))
        thread.start()


def measure_link(
    address: str, secret: RunSecret, *, encrypt: bool | None = None
) -> LinkFigures:
    """Measure the link to a ``LinkProbe``.

    Raises:
        LinkError: Nothing answers there, or it knows another secret.
    """
    where = Address.parse(address)
    identity = _identity(_CLIENT, secret, where, encrypt=encrypt)
    expected = Admission(name="the probe")
    connection = connect(where, identity, _SERVER, expected, purpose=Purpose.FRAMES)
    wire, source = connection.wire, WireSource(connection.wire)
    try:
        exchanges = [_exchange(wire, source, b"") for _ in range(_EXCHANGES)]
        latency, offset = min(exchanges)
        large = bytes(_LARGE)
        times = [_exchange(wire, source, large)[0] for _ in range(_REPEATS)]
    finally:
        wire.stop()
        wire.close()
    # The answer takes as long as that to a small message.
    moving = max(min(times) - latency, 1e-9)
    return LinkFigures(
        latency, _LARGE / moving, offset, identity.certificate is not None
    )


def _identity(
    rank: int, secret: RunSecret, address: Address, *, encrypt: bool | None
) -> Identity:
    encrypted = not address.is_local if encrypt is None else encrypt
    return Identity(rank, 1, _DIGEST, secret, Certificate() if encrypted else None)


def _exchange(
    wire: PlainWire | TLSWire, source: WireSource, body: bytes
) -> tuple[float, float]:
    """Send a message, and wait for the answer; return the time, and the offset."""
    clock, begin = time.time(), time.perf_counter()  # noqa: TID251 - clocks are compared
    _send(wire, _SIZE.pack(len(body)), body)
    (there,) = _CLOCK.unpack(source.take(_CLOCK.size))
    took = time.perf_counter() - begin
    return took, there / 1e9 - (clock + took / 2)


def _answer(wire: PlainWire | TLSWire) -> None:
    """Answer each message with the time of this clock."""
    source = WireSource(wire)
    memory = memoryview(bytearray(_LARGE))
    with suppress(OSError, EndOfStreamError):
        while True:
            (left,) = _SIZE.unpack(source.take(_SIZE.size))
            if left > _MAX_BYTES:
                break
            while left:
                part = memory[: min(left, len(memory))]
                source.fill([part])
                left -= len(part)
            _send(wire, _CLOCK.pack(time.time_ns()))  # noqa: TID251 - as above
    wire.stop()


def _send(wire: PlainWire | TLSWire, *pieces: bytes) -> None:
    left = [memoryview(each) for each in pieces if each]
    while left:
        left = after(left, wire.send(left))
