# SPDX-License-Identifier: Apache-2.0
"""Notices within 10 s that the wire to another host is dead.

A watch is a TCP connection beside the one of a link. It carries nothing, so that the
kernel's keepalive can probe it at any time, and the peer's kernel answers even while
its process is busy, stopped, or does not read. On the link's own connection no setting
would do: keepalive pauses while data is under way, and ``TCP_USER_TIMEOUT`` also ends
connections whose peer answers, but has had no room to receive for that long.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from reactorl._federation.link_errors import PeerLostError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._federation.handshake import Connection
    from reactorl._federation.link import Link

IDLE_SECONDS: Final = 2
INTERVAL_SECONDS: Final = 1
PROBES: Final = 7
"""A wire may be dead for 6 s; after 9 s it is always given up."""


class Watch:
    """Watches the wire to a peer.

    Args:
        connection: A connection for this purpose.
        peer: Name of the peer, for the error.
        ended: Called once, by another thread, when the wire or the peer is gone.
    """

    def __init__(
        self,
        connection: Connection,
        peer: str,
        ended: Callable[[PeerLostError], object],
    ) -> None:
        self._socket = connection.socket
        self._peer = peer
        self._ended = ended
        self._closed = False
        keep_alive(self._socket)
        self._thread = threading.Thread(
            target=self._wait, name=f"watch of {peer}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End without a report."""
        self._closed = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _wait(self) -> None:
        wire = False
        try:
            data = self._socket.recv(1)
            why = "it sent bytes where none belong" if data else "its process ended"
        except OSError as error:
            wire = True
            why = error.strerror or os.strerror(error.errno or 0)
        self._socket.close()
        if not self._closed:
            msg = f"the connection to {self._peer} was lost: {why}"
            self._ended(PeerLostError(msg, peer=self._peer, wire=wire))


class Watches:
    """The watches of one process. A dead wire ends the connection of its link.

    The end of the peer's process is not reported: its link ends by itself, after the
    last frames.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watches: list[Watch] | None = []

    def add(self, connection: Connection, link: Link) -> None:
        """Watch the wire of a link."""

        def ended(error: PeerLostError) -> None:
            if error.wire:
                link.lose(error, life=connection.life)

        with self._lock:
            if self._watches is None:
                connection.socket.close()
            else:
                self._watches.append(Watch(connection, link.peer, ended))

    def close(self) -> None:
        """End all watches, also those that are added later."""
        with self._lock:
            watches, self._watches = self._watches or [], None
        for watch in watches:
            watch.close()


def keep_alive(sock: socket.socket) -> None:
    """Let the kernel probe a TCP connection, and end it if nothing answers."""
    sock.settimeout(None)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Linux and macOS name the first one differently.
    idle = getattr(socket, "TCP_KEEPIDLE", None) or getattr(
        socket, "TCP_KEEPALIVE", None
    )
    for option, value in (
        (idle, IDLE_SECONDS),
        (getattr(socket, "TCP_KEEPINTVL", None), INTERVAL_SECONDS),
        (getattr(socket, "TCP_KEEPCNT", None), PROBES),
    ):
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
