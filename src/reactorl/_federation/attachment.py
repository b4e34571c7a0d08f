# SPDX-License-Identifier: Apache-2.0
"""One connection of a link: what sends, what receives, and how it ends."""

from __future__ import annotations

import errno
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from reactorl._federation.frames import Bye
from reactorl._federation.link_errors import LinkError, PeerLostError
from reactorl._federation.wire import EndOfStreamError, WireSource, after
from reactorl._federation.wire_format import HEADER, FrameReader, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._federation.frames import Frame
    from reactorl._federation.wire import Wire

_WIRE_ERRORS: Final = (
    errno.ETIMEDOUT,
    errno.EHOSTUNREACH,
    errno.ENETUNREACH,
    errno.EHOSTDOWN,
    errno.ENETDOWN,
)


_PIECES: Final = 512  # of one call; long lists would be copied after each call


class Endpoint(Protocol):
    """What a connection needs of its link."""

    peer: str

    def accept(self, frame: Frame) -> Frame | None:
        """Return what to deliver of a frame."""

    def deliver(self, batch: Sequence[Frame]) -> None:
        """Hand over what has arrived."""

    def detached(self, attachment: Attachment, error: LinkError | None) -> None:
        """Note that the connection is over."""


class Attachment:
    """One connection of a link.

    Args:
        link: Whose connection it is.
        wire: The connection.
        state: The link's lock; notified when something has changed.
        limits: What a frame may ask this process to allocate.
    """

    def __init__(
        self, link: Endpoint, wire: Wire, state: threading.Condition, limits: Limits
    ) -> None:
        self._link = link
        self._wire = wire
        self._state = state
        self._limits = limits
        self._queue: deque[list[bytes | memoryview]] = deque()
        self._sender: threading.Thread | None = None
        self._error: LinkError | None = None
        self._finishing = False
        self.unsent = 0
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._receive, name=f"link from {link.peer}", daemon=True
        )

    @property
    def is_over(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._over.is_set()

    def start(self) -> None:
        """Begin to receive."""
        self._thread.start()

    def send(self, pieces: list[bytes | memoryview]) -> None:
        """Send, or leave it to the sender. The link's lock is held."""
        if self._over.is_set():
            return
        if not self.unsent:
            try:
                size = self._wire.send_now(pieces)
            except OSError as error:
                self._unsendable(error)
                return
            total = size_of(pieces)
            if size == total:
                return
            pieces = after(pieces, size)  # type: ignore[assignment]
        self.unsent += size_of(pieces)
        for start in range(0, len(pieces), _PIECES):
            self._queue.append(pieces[start : start + _PIECES])
        if self._sender is None:
            self._sender = threading.Thread(
                target=self._send, name=f"link to {self._link.peer}", daemon=True
            )
            self._sender.start()
        self._state.notify_all()

    def expect_end(self) -> None:
        """Take the end of the stream as that of a peer that got the farewell."""
        self._finishing = True

    def stop(self, error: LinkError | None = None) -> None:
        """End both directions at once."""
        with self._state:
            self._error = self._error or error
            self._over.set()
            self._state.notify_all()
            self._wire.stop()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it is over, unless its own thread asks."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _send(self) -> None:
        while True:
            with self._state:
                while not self._queue and not self._over.is_set():
                    self._state.wait()
                if self._over.is_set():
                    return
                pieces = self._queue[0]
            while pieces:
                try:
                    size = self._wire.send(pieces)
                except OSError as error:
                    self._unsendable(error)
                    return
                pieces = after(pieces, size)  # type: ignore[assignment]
                with self._state:
                    self.unsent -= size
                    if self._over.is_set():
                        return
                    self._state.notify_all()
            with self._state:
                self._queue.popleft()

    def _receive(self) -> None:
        error: LinkError | None
        try:
            self._receive_frames()
        except LinkError as failure:
            error = failure
        except MemoryError:
            msg = f"receiving from {self._link.peer} failed: out of memory"
            error = LinkError(msg, peer=self._link.peer)
        except EndOfStreamError as end:
            error = self._lost("it ended" if end.clean else "it ended within a frame")
        except OSError as failure:
            is_wire = failure.errno in _WIRE_ERRORS
            error = self._lost(failure.strerror or str(failure), wire=is_wire)
        except Exception as failure:  # a thread that ends silently would be a hang
            msg = f"handling what {self._link.peer} sent failed: "
            msg += f"{type(failure).__name__}: {failure}"
            error = LinkError(msg, peer=self._link.peer)
            error.__cause__ = failure
        else:
            error = None
            self._drain()
        self.stop(error)
        if self._sender is not None:
            self._sender.join()
        with suppress(OSError):
            self._wire.close()
        self._link.detached(self, self._error if error is not None else None)

    def _unsendable(self, error: OSError) -> None:
        # If the peer has ended, its last frames may still be there to be received.
        is_end = isinstance(error, BrokenPipeError | ConnectionResetError)
        why = error.strerror or str(error)
        is_wire = error.errno in _WIRE_ERRORS
        self.stop(None if is_end else self._lost(why, wire=is_wire))

    def _lost(self, why: str, *, wire: bool = False) -> PeerLostError:
        peer = self._link.peer
        msg = f"the connection to {peer} was lost: {why}"
        return PeerLostError(msg, peer=peer, wire=wire)

    def _drain(self) -> None:
        """Send the own farewell, if there is one: the peer waits for it."""
        with self._state:
            while self._finishing and self.unsent and not self._over.is_set():
                self._state.wait()

    def _receive_frames(self) -> None:
        """Receive up to a farewell, or to the end of the stream after the own one."""
        link = self._link
        source = WireSource(self._wire)
        reader = FrameReader(source, self._limits, link.peer)
        batch: list[Frame] = []
        while True:
            try:
                frame = reader.read()
            except EndOfStreamError:
                if self._finishing:  # nothing more is wanted of the peer
                    return
                raise
            farewell = isinstance(frame, Bye)
            item = link.accept(frame)
            if item is not None:
                batch.append(item)
            if batch and (farewell or not _is_complete(source.buffered)):
                link.deliver(batch)
                batch = []
            if farewell:
                return


def _is_complete(data: memoryview) -> bool:
    """Return whether a whole frame was read ahead, so that no waiting is needed."""
    if len(data) < HEADER.size:
        return False
    length: int = HEADER.unpack_from(data)[4]
    return len(data) >= HEADER.size + length


def size_of(pieces: Sequence[bytes | memoryview]) -> int:
    """Return the bytes of pieces."""
    return sum(
        piece.nbytes if isinstance(piece, memoryview) else len(piece)
        for piece in pieces
    )
