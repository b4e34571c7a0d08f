# SPDX-License-Identifier: Apache-2.0
"""Bytes between two processes: a socket, plain or with TLS, for one reader and writers.

A reader blocks in the kernel until a whole array is there (``MSG_WAITALL``), so that it
needs the interpreter once per value and not once per packet. Writers send without
blocking, or wait for room.

A TLS object cannot be used by two threads at once, so its socket does not block: each
call holds a lock, and waiting happens outside of it.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    Pieces = Sequence[bytes | memoryview]

_IOV_MAX: Final = min(os.sysconf("SC_IOV_MAX") if hasattr(os, "sysconf") else 16, 1024)
_SOCKET_BYTES: Final = 4 << 20  # asked for; the system may give less
_CHUNK_BYTES: Final = 1 << 30  # of one call; Linux transfers at most 2 GiB - 4 KiB
_BUFFER_BYTES: Final = 1 << 16
_TLS_BYTES: Final = 1 << 18  # of one call, during which the other direction waits


class EndOfStreamError(Exception):
    """The peer sends nothing more.

    Attributes:
        clean: Whether it ended between two frames.
    """

    def __init__(self, *, clean: bool) -> None:
        super().__init__("end of stream")
        self.clean = clean


class Wire(Protocol):
    """What a link needs of a socket."""

    def send_now(self, pieces: Pieces) -> int:
        """Send as many bytes as possible without waiting; return how many."""

    def send(self, pieces: Pieces) -> int:
        """Wait until some bytes can be sent; return how many were."""

    def receive(self, memory: memoryview) -> int:
        """Wait for some bytes, 0 at the end of the stream."""

    def receive_all(self, memory: Sequence[memoryview]) -> int:
        """Wait until memory is full or the stream ends; return how many bytes came."""

    def stop(self) -> None:
        """End both directions and all waiting calls, at once; from any thread."""

    def close(self) -> None:
        """Release the socket. No other thread may use it any more."""


class PlainWire:
    """A Unix or TCP socket."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(None)
        configure(sock)
        self._socket = sock

    def send_now(self, pieces: Pieces) -> int:
        """See ``Wire``."""
        try:
            if len(pieces) == 1 and len(pieces[0]) <= _BUFFER_BYTES:  # most are
                return self._socket.send(pieces[0], socket.MSG_DONTWAIT)
            return self._socket.sendmsg(_few(pieces), (), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    def send(self, pieces: Pieces) -> int:
        """See ``Wire``."""
        return self._socket.sendmsg(_few(pieces))

    def receive(self, memory: memoryview) -> int:
        """See ``Wire``."""
        return self._socket.recv_into(memory)

    def receive_all(self, memory: Sequence[memoryview]) -> int:
        """See ``Wire``."""
        total = 0
        left = [each for each in memory if each.nbytes]
        while left:
            few = _few(left)
            if len(few) == 1:
                size = self._socket.recv_into(few[0], 0, socket.MSG_WAITALL)
            else:
                size = self._socket.recvmsg_into(few, 0, socket.MSG_WAITALL)[0]
            if size == 0:
                break
            total += size
            left = after(left, size)  # a signal can end a call early
        return total

    def stop(self) -> None:
        """See ``Wire``."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """See ``Wire``."""
        self._socket.close()


class TLSWire:
    """A TCP socket with TLS, after its handshake."""

    def __init__(self, sock: ssl.SSLSocket) -> None:
        configure(sock)
        sock.settimeout(0)
        self._socket = sock
        self._lock = threading.Lock()
        self._poll_in = _poll(sock, select.POLLIN)
        self._poll_out = _poll(sock, select.POLLOUT)

    def send_now(self, pieces: Pieces) -> int:
        """See ``Wire``."""
        total = 0
        for piece in _records(pieces):
            with self._lock:
                try:
                    size = self._socket.send(piece)
                except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                    break
            total += size
            if size < len(piece):
                break
        return total

    def send(self, pieces: Pieces) -> int:
        """See ``Wire``."""
        while (size := self.send_now(pieces)) == 0:
            self._poll_out.poll()
        return size

    def receive(self, memory: memoryview) -> int:
        """See ``Wire``."""
        while True:
            with self._lock:
                try:
                    return self._socket.recv_into(memory[:_TLS_BYTES])
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    pass
                except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
                    return 0
            self._poll_in.poll()

    def receive_all(self, memory: Sequence[memoryview]) -> int:
        """See ``Wire``."""
        total = 0
        for each in memory:
            left = each.cast("B")
            while left.nbytes:
                size = self.receive(left)
                if size == 0:
                    return total
                total += size
                left = left[size:]
        return total

    def stop(self) -> None:
        """See ``Wire``."""
        with suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """See ``Wire``."""
        self._socket.close()


class WireSource:
    """A source of frames that reads ahead what is there, up to 64 KiB."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._start = 0
        self._end = 0

    @property
    def buffered(self) -> memoryview:
        """What was read, and not taken yet."""
        return self._buffer[self._start : self._end]

    def take(self, size: int) -> memoryview:
        """Return the next bytes, at most 64 KiB; valid until the next call."""
        if self._end - self._start < size:
            self._read(size)
        start = self._start
        self._start += size
        return self._buffer[start : start + size]

    def _read(self, size: int) -> None:
        have = self._end - self._start
        self._buffer[:have] = self._buffer[self._start : self._end]
        self._start, self._end = 0, have
        while self._end < size:
            more = self._wire.receive(self._buffer[self._end :])
            if more == 0:
                raise EndOfStreamError(clean=self._end == 0)
            self._end += more

    def fill(self, memory: Sequence[memoryview]) -> None:
        """Fill memory: first with what was read ahead, then from the socket."""
        left = [each for each in memory if each.nbytes]
        while left and self._start < self._end:
            size = min(left[0].nbytes, self._end - self._start)
            left[0][:size] = self._buffer[self._start : self._start + size]
            self._start += size
            left = after(left, size)
        expected = sum(each.nbytes for each in left)
        if expected and self._wire.receive_all(left) < expected:
            raise EndOfStreamError(clean=False)


def after(pieces: Pieces, size: int) -> list[memoryview]:
    """Return what follows the first ``size`` bytes of pieces."""
    for index, piece in enumerate(pieces):
        view = memoryview(piece)
        if size < view.nbytes:
            rest = [memoryview(each) for each in pieces[index + 1 :]]
            return [view[size:] if view.ndim == 1 else view.cast("B")[size:], *rest]
        size -= view.nbytes
    return []


def configure(sock: socket.socket) -> None:
    """Set buffers, and send small frames at once."""
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        # TCP's buffers grow by themselves, but not once their size was set.
        if sock.family == socket.AF_UNIX:
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, option, _SOCKET_BYTES)
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _few(pieces: Pieces) -> list[bytes | memoryview]:
    """Return as many pieces as one call may have, of a size that it may have."""
    few = list(pieces[:_IOV_MAX])
    if sum(map(_size, few)) <= _CHUNK_BYTES:
        return few
    total = 0
    for index, piece in enumerate(few):
        if total + _size(piece) > _CHUNK_BYTES:
            part = memoryview(piece)[: _CHUNK_BYTES - total]
            return [*few[:index], part] if part.nbytes else few[:index]
        total += _size(piece)
    return few


def _size(piece: bytes | memoryview) -> int:
    return piece.nbytes if isinstance(piece, memoryview) else len(piece)


def _records(pieces: Pieces) -> list[bytes | memoryview]:
    """Join neighbours that are small: every piece costs a record of its own."""
    joined: list[bytes | memoryview] = []
    small: list[bytes | memoryview] = []
    for piece in pieces:
        if _size(piece) < _BUFFER_BYTES:
            small.append(piece)
            continue
        if small:
            joined.append(b"".join(small))
            small = []
        view = memoryview(piece)
        joined += [
            view[start : start + _TLS_BYTES]
            for start in range(0, view.nbytes, _TLS_BYTES)
        ]
    return [*joined, b"".join(small)] if small else joined


def _poll(sock: socket.socket, event: int) -> select.poll:
    poll = select.poll()
    poll.register(sock, event)
    return poll
