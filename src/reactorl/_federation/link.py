# SPDX-License-Identifier: Apache-2.0
"""An ordered stream of frames to another federate, which outlives its connections.

Values are numbered. A link keeps what it has sent until the receiver says that it is in
its checkpoint (ACK), and sends it again to a new life of the receiver, or over a new
connection. Received numbers that are there already are dropped.

Each connection has a thread that receives. Threads, not a selector, because a thread
can wait in the kernel for a whole array and then needs the interpreter once; because a
value that takes long to deserialize delays its own link only; and because it is always
ready to receive, whatever reactions do. As the receiver never waits for anything else,
a sender that waits for room always gets it, so backpressure cannot deadlock.

Frames are sent by the thread that calls ``flush``, as far as the socket has room. The
rest is left to a second thread, which exists only once that has happened.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Final

from reactorl._federation.attachment import Attachment, size_of
from reactorl._federation.codec import Payload, decode
from reactorl._federation.frames import Ack, Bye
from reactorl._federation.link_errors import (
    CodecError,
    FrameError,
    HandshakeError,
    LinkError,
    PeerLostError,
    Refusal,
)
from reactorl._federation.messages import Message
from reactorl._federation.wire_format import Limits, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl._federation.frames import Frame
    from reactorl._federation.handshake import Connection

UNSENT_BYTES: Final = 64 << 20
"""From here on ``flush(wait=True)`` waits."""


class Link:
    """The frames to and from one peer. Any thread may use it.

    Args:
        peer: Name of the peer, for errors.
        deliver: Called with what has arrived, in order, by a thread of the link. It
            must not wait. Values of messages are deserialized.
        ended: Called once per connection by the same thread: None after the peer's
            farewell, else the error that names the peer. Without a connection the link
            keeps values and forgets other frames.
        limits: What a frame may ask this process to allocate.
        keep: Whether values are kept for a new life of the peer.
        decoder: Makes the value of a message that arrives; default: unpickles it.
    """

    def __init__(
        self,
        peer: str,
        deliver: Callable[[Sequence[Frame]], object],
        ended: Callable[[LinkError | None], object],
        *,
        limits: Limits | None = None,
        keep: bool = True,
        decoder: Callable[[Message], object] | None = None,
    ) -> None:
        self.peer = peer
        self._deliver = deliver
        self._ended = ended
        self._limits = limits or Limits()
        self._keep = keep
        self._decoder = decoder or _unpickled
        self._lock = threading.RLock()
        self._state = threading.Condition(self._lock)
        self._attaching = threading.Lock()
        self._sent = 0
        self._received = 0
        self._known = 0  # values that the peer said it has
        self._kept: deque[tuple[int, list[bytes | memoryview]]] = deque()
        self._kept_bytes = 0
        self._pending: list[bytes | memoryview] = []
        self._attached: Attachment | None = None
        self._life = 0

    @property
    def sent(self) -> int:
        """Number of the last value sent."""
        return self._sent

    @property
    def received(self) -> int:
        """Number of the last value received."""
        return self._received

    @property
    def life(self) -> int:
        """Life of the peer; 0 before the first connection."""
        return self._life

    @property
    def kept_bytes(self) -> int:
        """Bytes of values that may have to be sent again."""
        return self._kept_bytes

    @property
    def unsent_bytes(self) -> int:
        """Bytes that wait for the peer to receive."""
        attached = self._attached
        return 0 if attached is None else attached.unsent

    @property
    def is_connected(self) -> bool:
        """Whether frames reach the peer now."""
        return self._attached is not None

    def restore(self, *, sent: int, received: int) -> None:
        """Continue the numbers of a checkpoint. Before the first connection only."""
        with self._lock:
            if self._life or self._sent or self._received:
                msg = "the numbers of a link can be restored before it is used only"
                raise LinkError(msg, peer=self.peer)
            self._sent, self._received = sent, received

    def put_value(self, message: Message) -> int:
        """Number a value, and send it with the next ``flush``.

        Args:
            message: Its value is a ``Payload``, whose memory must not change any more;
                ``encode`` sees to that. A number that it has already must be the next.

        Returns:
            The number.
        """
        with self._lock:
            number = self._sent + 1
            if message.number not in (0, number):
                msg = f"the next value to {self.peer} must have number {number}, "
                msg += f"got {message.number}"
                raise LinkError(msg, peer=self.peer)
            if not message.number:
                message = message._replace(number=number)
            pieces = pack(message)
            self._sent = number
            if self._keep:
                self._kept.append((number, pieces))
                self._kept_bytes += size_of(pieces)
            if self._attached is not None:
                if number > self._known:
                    self._pending += pieces
                elif message.promised is not None:  # what rides on it may be new
                    self._pending += pack(message.promised)
            return number

    def put(self, frame: Frame) -> None:
        """Send any other frame with the next ``flush``; forget it without a peer."""
        with self._lock:
            if self._attached is not None:
                self._pending += pack(frame)

    def flush(self, *, wait: bool = False) -> None:
        """Send what was put, with one call of the system if the socket has room.

        Never raises if the peer is gone: ``ended`` is called for that.

        Args:
            wait: Return only when less than ``UNSENT_BYTES`` are left. Not for threads
                of links, which would wait for themselves.
        """
        with self._lock:
            attached = self._attached
            if attached is None:
                self._pending.clear()
                return
            if self._pending:
                pieces, self._pending = self._pending, []
                attached.send(pieces)
            while wait and attached.unsent > UNSENT_BYTES and not attached.is_over:
                self._state.wait()

    def attach(self, connection: Connection) -> None:
        """Use a connection; what the peer lacks is sent again.

        An older connection is ended first. Say promises and demands again afterwards:
        only values are kept.

        Raises:
            HandshakeError: A newer life of the peer was seen already.
            LinkError: The peer lacks values that are not kept any more.
        """
        with self._attaching:
            self._attach(connection)

    def _attach(self, connection: Connection) -> None:
        with self._lock:
            if connection.life < self._life:
                connection.wire.close()
                what = f"{self.peer} was refused: life {connection.life} is over, "
                what += f"it is in life {self._life}"
                raise HandshakeError(Refusal.LIFE, what, peer=self.peer)
            old = self._attached
        if old is not None:
            old.stop()
            old.join()
        with self._lock:
            first = connection.received + 1
            begin = self._kept[0][0] if self._kept else self._sent + 1
            if first < begin:
                connection.wire.close()
                msg = f"{self.peer} asked for value {first}, but values before {begin} "
                msg += "are not kept"
                remedy = "Restart all federates from the last checkpoint."
                raise LinkError(msg, remedy, peer=self.peer)
            self._life = connection.life
            self._known = connection.received
            self._pending.clear()
            self._attached = attached = Attachment(
                self, connection.wire, self._state, self._limits
            )
            again = [
                piece
                for number, pieces in self._kept
                if number >= first
                for piece in pieces
            ]
            if again:
                attached.send(again)
            attached.start()

    def lose(self, error: PeerLostError, *, life: int | None = None) -> None:
        """End the connection because something else knows that the peer is gone.

        Args:
            error: What ``ended`` will get.
            life: Which life of the peer; a connection of another one stays.
        """
        with self._lock:
            attached = self._attached if life in (None, self._life) else None
        if attached is not None:
            attached.stop(error)

    def close(self, status: int = 0, *, timeout: float = 10.0) -> None:
        """Say farewell, let the peer receive everything, and end the connection.

        Args:
            status: Exit status for the peer.
            timeout: Seconds to wait for the peer's own end of the stream.
        """
        with self._lock:
            attached = self._attached
            if attached is None:
                return
            attached.expect_end()  # the peer may end before flush returns
            self.put(Bye(status))
            self.flush()
        attached.join(timeout)
        attached.stop()
        attached.join()

    def forget(self, number: int) -> None:
        """Forget kept values up to a number: the peer will not ask for them again."""
        with self._lock:
            if number > self._sent:
                msg = f"{self.peer} has acknowledged value {number} of {self._sent}"
                raise FrameError(msg, peer=self.peer)
            while self._kept and self._kept[0][0] <= number:
                self._kept_bytes -= size_of(self._kept.popleft()[1])

    def accept(self, frame: Frame) -> Frame | None:
        """See ``Endpoint``."""
        if isinstance(frame, Message) and frame.number:
            return self._accept_value(frame)
        if isinstance(frame, Ack):
            self.forget(frame.number)
            return None
        return frame

    def deliver(self, batch: Sequence[Frame]) -> None:
        """See ``Endpoint``."""
        self._deliver(batch)

    def _accept_value(self, message: Message) -> Message | None:
        number = message.number
        if number <= self._received:
            return message.promised  # sent again
        if number != self._received + 1:
            msg = f"{self.peer} sent value {number} after value {self._received}"
            raise FrameError(msg, peer=self.peer)
        payload = message.value
        assert isinstance(payload, Payload)  # the reader makes them so
        try:
            value = self._decoder(message)
        except CodecError as error:
            what = f"{error.what}, in value {number} from {self.peer}"
            raise CodecError(what, error.remedy, peer=self.peer) from error
        self._received = number
        return message.with_value(value)

    def detached(self, attached: Attachment, error: LinkError | None) -> None:
        """See ``Endpoint``."""
        with self._lock:
            if self._attached is attached:
                self._attached = None
                self._pending.clear()
            self._state.notify_all()
        self._ended(error)


def _unpickled(message: Message) -> object:
    payload = message.value
    assert isinstance(payload, Payload)
    return decode(*payload)
