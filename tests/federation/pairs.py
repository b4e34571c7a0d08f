# SPDX-License-Identifier: Apache-2.0
"""Pairs of connected sockets, connections and links in one process."""

from __future__ import annotations

import queue
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from reactorl._federation.certificate import Certificate
from reactorl._federation.codec import Payload, encode
from reactorl._federation.handshake import (
    Admission,
    Connection,
    Identity,
    Purpose,
    initiate,
    respond,
)
from reactorl._federation.link import Link
from reactorl._federation.messages import Kind, Message
from reactorl._federation.secret import RunSecret
from reactorl.tag import Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reactorl._federation.frames import Frame
    from reactorl._federation.link_errors import LinkError

T = TypeVar("T")

ANYONE = Admission()
DIGEST = bytes(range(32))
HANG = 60.0
"""Seconds; ends hangs only."""


OPEN: list[socket.socket] = []
"""Sockets that are closed after the test."""


def unix_pair() -> tuple[socket.socket, socket.socket]:
    pair = socket.socketpair()
    OPEN.extend(pair)
    return pair


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        first = socket.create_connection(listener.getsockname())
        second, _ = listener.accept()
    OPEN.extend((first, second))
    return first, second


PAIRS: dict[str, Callable[[], tuple[socket.socket, socket.socket]]] = {
    "unix": unix_pair,
    "tcp": tcp_pair,
}


def identity(
    rank: int,
    secret: RunSecret,
    *,
    life: int = 1,
    digest: bytes = DIGEST,
    certificate: Certificate | None = None,
    timeout: float = HANG,
) -> Identity:
    return Identity(rank, life, digest, secret, certificate, timeout)


def both(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any]:
    """Return what two functions that run at the same time return or raise."""
    results: list[Any] = [None, None]

    def call(index: int, function: Callable[[], Any]) -> None:
        try:
            results[index] = function()
        except Exception as error:
            results[index] = error

    threads = [
        threading.Thread(target=call, args=each, daemon=True)
        for each in ((0, first), (1, second))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
        assert not thread.is_alive()
    return results[0], results[1]


def shake(
    sockets: tuple[socket.socket, socket.socket],
    initiator: Identity,
    responder: Identity,
    *,
    rank: int = 1,
    expected: Admission = ANYONE,
    admit: Callable[[int], Admission | None] = lambda rank: Admission(),
    purpose: Purpose = Purpose.FRAMES,
) -> tuple[Any, Any]:
    """Return the connections, or errors, of initiator and responder."""
    results = both(
        lambda: initiate(sockets[0], initiator, rank, expected, purpose=purpose),
        lambda: respond(sockets[1], responder, admit),
    )
    OPEN.extend(each.socket for each in results if isinstance(each, Connection))
    return results


def connections(
    kind: str = "unix",
    *,
    lives: tuple[int, int] = (1, 1),
    received: tuple[int, int] = (0, 0),
) -> tuple[Connection, Connection]:
    """Return both ends of an authenticated connection; ``tls`` is encrypted TCP."""
    secret = RunSecret.generate()
    certificates = [Certificate() if kind == "tls" else None for _ in range(2)]
    ends = [
        identity(rank, secret, life=lives[rank], certificate=certificates[rank])
        for rank in range(2)
    ]
    first, second = shake(
        PAIRS["unix" if kind == "unix" else "tcp"](),
        ends[0],
        ends[1],
        expected=Admission(received=received[0]),
        admit=lambda rank: Admission(received=received[1]),
    )
    for each in (first, second):
        if isinstance(each, Exception):
            raise each
    return first, second


class End:
    """A link, and what it delivers."""

    def __init__(self, peer: str, **options: Any) -> None:
        self.items: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.batches: list[int] = []
        self.ends: queue.SimpleQueue[LinkError | None] = queue.SimpleQueue()
        self.link = Link(peer, self._deliver, self.ends.put, **options)

    def _deliver(self, batch: Sequence[Any]) -> None:
        self.batches.append(len(batch))
        for item in batch:
            self.items.put(item)

    def get(self) -> Any:
        return self.items.get(timeout=HANG)

    def take(self, count: int) -> list[Any]:
        return [self.get() for _ in range(count)]

    def send(self, *frames: Frame) -> None:
        for frame in frames:
            self.link.put(frame)
        self.link.flush()

    def end(self) -> LinkError | None:
        return self.ends.get(timeout=HANG)


@contextmanager
def linked(kind: str = "unix", **options: Any) -> Iterator[tuple[End, End]]:
    first, second = End("second", **options), End("first", **options)
    one, other = connections(kind)
    first.link.attach(one)
    second.link.attach(other)
    try:
        yield first, second
    finally:
        for each in (first, second):
            each.link.close(timeout=0)


def caught(kind: type[T], result: object) -> T:
    assert isinstance(result, kind), result
    return result


def value(end: End, content: object, tag: int = 1, target: int = 0) -> int:
    number = put(end.link, content, tag, target)
    end.link.flush()
    return number


def put(link: Link, content: object, tag: int = 1, target: int = 0) -> int:
    return link.put_value(packed_value(content, Tag(tag), target))


def packed_value(
    content: object, tag: Tag, target: int = 0, number: int = 0
) -> Message:
    payload = content if isinstance(content, Payload) else encode(content)
    return Message(Kind.VALUE, tag=tag, place=target, value=payload, number=number)


def demand(tag: int = 1) -> Message:
    return Message(Kind.DEMAND, tag=Tag(tag))
