# SPDX-License-Identifier: Apache-2.0
"""Addresses of federates: listening, accepting, connecting.

A listener binds to the one address it is given. It hands over connections that have
passed the handshake; the handshakes of several peers run at the same time, but only a
bounded number, so that strangers cannot make it start threads without end.
"""

from __future__ import annotations

import os
import socket
import stat
import threading
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reactorl._federation.handshake import Purpose, initiate, respond
from reactorl._federation.link_errors import (
    HandshakeError,
    LinkError,
    PeerLostError,
    Refusal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._federation.handshake import Admission, Connection, Identity

_HANDSHAKES: Final = 32
_UNIX: Final = "unix:"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a federate listens: a Unix socket, or a host and a TCP port.

    Attributes:
        path: Of the Unix socket; empty for TCP.
        host: Name or number of the host.
        port: Its port; 0 lets the system choose when listening.
    """

    path: str = ""
    host: str = ""
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address of ``unix:PATH``, ``HOST:PORT`` or ``[IPV6]:PORT``."""
        if text.startswith(_UNIX) and len(text) > len(_UNIX):
            return cls(path=text.removeprefix(_UNIX))
        host, _, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            host = ""
        is_port = port.isascii() and port.isdecimal() and int(port) < 1 << 16
        if not host or not is_port:
            msg = f"an address must be unix:PATH or HOST:PORT, got {text!r}"
            raise LinkError(msg, "Write an IPv6 address in brackets: [::1]:5000.")
        return cls(host=host, port=int(port))

    @property
    def is_local(self) -> bool:
        """Whether only processes of this machine can connect; no encryption needed."""
        if self.path or self.host == "localhost":
            return True
        with suppress(ValueError):
            return ip_address(self.host).is_loopback
        return False

    def __str__(self) -> str:
        if self.path:
            return _UNIX + self.path
        return (
            f"[{self.host}]:{self.port}"
            if ":" in self.host
            else (f"{self.host}:{self.port}")
        )


class Listener:
    """Accepts connections of peers at one address, until it is closed.

    Args:
        address: Where to listen. The directory of a Unix socket must be private.
        identity: Who this process is.
        admit: What is expected of a rank; None refuses it.
        accepted: Called with each connection that has passed, by another thread.
        refused: Called with the error of each that has not, or that ``accepted`` has
            raised a ``LinkError`` for.

    Raises:
        LinkError: The address is in use, is not one of this machine, or is not private.
    """

    def __init__(
        self,
        address: Address,
        identity: Identity,
        admit: Callable[[int], Admission | None],
        accepted: Callable[[Connection], object],
        refused: Callable[[LinkError], object],
    ) -> None:
        self._identity = identity
        self._admit = admit
        self._accepted = accepted
        self._refused = refused
        self._free = threading.Semaphore(_HANDSHAKES)
        self._closed = threading.Event()
        self._socket = _listen(address)
        self.address = address
        if not address.path:
            port = self._socket.getsockname()[1]
            self.address = Address(host=address.host, port=port)
        self._thread = threading.Thread(
            target=self._accept, name=f"listener at {self.address}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Accept nothing more. Connections that have passed stay."""
        self._closed.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # ends a waiting accept on Linux
        _wake(self.address)
        self._thread.join()
        self._socket.close()
        if self.address.path:
            Path(self.address.path).unlink(missing_ok=True)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                sock, _ = self._socket.accept()
            except ConnectionError:
                continue  # it has gone already
            except OSError:
                if self._closed.is_set():
                    return
                self._closed.wait(0.1)  # no file descriptors are left
                continue
            if self._closed.is_set():
                sock.close()
                return
            self._free.acquire()
            threading.Thread(
                target=self._respond, args=(sock,), name="handshake", daemon=True
            ).start()

    def _respond(self, sock: socket.socket) -> None:
        try:
            connection = respond(sock, self._identity, self._admit)
            self._accepted(connection)
        except LinkError as error:
            self._refused(error)
        finally:
            self._free.release()


def connect(
    address: Address,
    identity: Identity,
    rank: int,
    admission: Admission,
    *,
    purpose: Purpose = Purpose.FRAMES,
) -> Connection:
    """Connect to a listening peer.

    Args:
        address: Where it listens.
        identity: Who this process is.
        rank: Who must answer.
        admission: What is expected of it.
        purpose: What the connection is for.

    Raises:
        HandshakeError: Either side refused.
        PeerLostError: Nothing listens there, or the host does not answer.
    """
    try:
        if address.path:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                sock.settimeout(identity.timeout)
                sock.connect(address.path)
            except OSError:
                sock.close()
                raise
        else:
            sock = socket.create_connection(
                (address.host, address.port), identity.timeout
            )
    except OSError as error:
        name = admission.name or f"federate {rank}"
        msg = f"connecting to {name} at {address} failed: {error.strerror or error}"
        remedy = "Check that it runs, and that no firewall is between the hosts."
        raise PeerLostError(msg, remedy, peer=name, wire=True) from error
    return initiate(sock, identity, rank, admission, purpose=purpose)


def is_gone(error: LinkError) -> bool:
    """Return whether connecting failed because no process is there any more."""
    if isinstance(error, HandshakeError):
        return error.reason is Refusal.CLOSED
    return isinstance(error.__cause__, ConnectionError | FileNotFoundError)


def _listen(address: Address) -> socket.socket:
    try:
        if address.path:
            _check_private(Path(address.path).parent)
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                sock.bind(address.path)
                sock.listen(128)
            except OSError:
                sock.close()
                raise
            return sock
        family, _, _, _, where = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )[0]
        return socket.create_server(where[:2], family=family, backlog=128)
    except OSError as error:
        msg = f"listening at {address} failed: {error.strerror or error}"
        raise LinkError(msg) from error


def _check_private(directory: Path) -> None:
    found = directory.stat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        msg = "the directory of a Unix socket must be yours and have mode 700, got "
        msg += f"{directory} with mode {stat.S_IMODE(found.st_mode):o}"
        raise LinkError(msg)


def _wake(address: Address) -> None:
    """Connect, so that a waiting accept returns where shutdown does not end it."""
    with suppress(OSError):
        if address.path:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
                sock.settimeout(1)
                sock.connect(address.path)
        else:
            socket.create_connection((address.host, address.port), 1).close()
