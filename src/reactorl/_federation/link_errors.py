# SPDX-License-Identifier: Apache-2.0
"""What can fail between two federates. No error contains the run's secret or a value.

LinkError
├── SecretError       the run's secret cannot be read
├── HandshakeError    the peer was refused, or refused this federate
├── FrameError        the bytes received are not what this version sends
├── CodecError        a value cannot be serialized or deserialized
└── PeerLostError     the process or the wire of a peer is gone
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from reactorl.errors import FederationError

__all__ = [
    "CodecError",
    "FrameError",
    "HandshakeError",
    "LinkError",
    "PeerLostError",
    "Refusal",
    "SecretError",
]


class LinkError(FederationError):
    """The base class of errors between federates.

    Attributes:
        peer: The name of the other federate, as far as it is known; may be empty.
    """

    def __init__(self, what: str, remedy: str = "", *, peer: str = "") -> None:
        super().__init__(what, None, remedy)
        self.args = (what, remedy, peer)
        self.peer = peer

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), *self.args)


def _rebuilt(cls: type[LinkError], what: str, remedy: str, peer: str) -> LinkError:
    return cls(what, remedy, peer=peer)


class SecretError(LinkError):
    """The run's secret cannot be read, or others could have read it."""


class FrameError(LinkError):
    """Received bytes are not a frame of this version; the link is closed."""


class CodecError(LinkError):
    """A value cannot be serialized, or a received one not deserialized."""


class PeerLostError(LinkError):
    """A peer ended without a farewell, or the wire to it is dead.

    Attributes:
        wire: Whether it is the wire; else the process or its socket is gone.
    """

    def __init__(
        self, what: str, remedy: str = "", *, peer: str = "", wire: bool = False
    ) -> None:
        super().__init__(what, remedy, peer=peer)
        self.wire = wire

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt_lost, (*self.args, self.wire)


def _rebuilt_lost(what: str, remedy: str, peer: str, wire: object) -> PeerLostError:
    return PeerLostError(what, remedy, peer=peer, wire=bool(wire))


class Refusal(IntEnum):
    """Why a handshake failed. Peers send the number, so numbers never change."""

    ACCEPTED = 0
    VERSION = 1
    SECRET = 2
    ROLE = 3
    LIFE = 4
    DIGEST = 5
    ENCRYPTION = 6
    CERTIFICATE = 7
    SILENCE = 8
    FOREIGN = 9
    CLOSED = 10


_REMEDIES: Final = {
    Refusal.VERSION: "Install one version of reactorl for all federates.",
    Refusal.SECRET: "Give each federate the secret of this run; every run has its own.",
    Refusal.ROLE: "Start each federate once, with the addresses of this run.",
    Refusal.LIFE: "A newer process has taken its place; this one must end.",
    Refusal.DIGEST: "Run the same program with the same placement in all federates.",
    Refusal.ENCRYPTION: "Use --no-encryption for all federates or for none.",
    Refusal.CERTIFICATE: "A machine between the two hosts replaces what they send.",
}


class HandshakeError(LinkError):
    """Two processes did not accept each other; no further byte was interpreted.

    Attributes:
        reason: What did not match.
        by_peer: Whether the peer refused, not this process.
    """

    def __init__(
        self, reason: Refusal, what: str, *, peer: str = "", by_peer: bool = False
    ) -> None:
        super().__init__(what, _REMEDIES.get(reason, ""), peer=peer)
        self.reason = reason
        self.by_peer = by_peer

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt_refusal, (self.reason, self.what, self.peer, self.by_peer)


def _rebuilt_refusal(
    reason: Refusal,
    what: str,
    peer: str,
    by_peer: object,
) -> HandshakeError:
    return HandshakeError(reason, what, peer=peer, by_peer=bool(by_peer))
