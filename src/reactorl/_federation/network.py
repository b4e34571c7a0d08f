# SPDX-License-Identifier: Apache-2.0
"""The wire of a federate: links to its neighbours and to the coordinator."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from reactorl._federation.frames import (
    Bye,
    Kept,
    Physical,
    Probe,
    Release,
    Save,
    Saved,
    Start,
    StopRequest,
)
from reactorl._federation.link import Link
from reactorl._federation.link_errors import FrameError, LinkError, PeerLostError
from reactorl._federation.messages import BEFORE_ALL, Kind, Message, Report
from reactorl._federation.probes import answer
from reactorl._federation.values import ValueCodec

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from reactorl._federation.codec import Payload
    from reactorl._federation.federate import Base, Federate
    from reactorl._federation.frames import Failed, Finished, Frame, Hello
    from reactorl._federation.handshake import Connection
    from reactorl._program.cut import Cut
    from reactorl.tag import Tag

ABORT = Message(Kind.FAILURE, tag=BEFORE_ALL, key=0)
"""Ends a federate although no reaction failed: nothing after this tag may run."""


_ABORTED_SECONDS = 1.0
_QUIET_SECONDS = 0.05
"""Reports are this far apart, as long as waits are short. Errors name the last tag that
was reported."""


class _ReplacedError(PeerLostError):
    """A connection has ended because a newer one takes its place."""


class Network:
    """The links of one federate; see ``federate.Wire``.

    An error of a link ends the federate, because nothing can be known any more of what
    its peer would have sent: no federate runs on without another one. If lost federates
    begin again, it waits for the new life of its peer instead.

    Args:
        cut: How the program is cut.
        index: Which federate this is.
        values: How values become bytes; default: as in ``codec.py``.
        keeps: Whether federates that are lost begin again: what was sent to them is
            kept, and sent again.
        base: Where this federate begins; None: at the beginning.
        fixed: Federates that never begin again.
    """

    def __init__(
        self,
        cut: Cut,
        index: int,
        values: ValueCodec | None = None,
        *,
        keeps: bool = False,
        base: Base | None = None,
        fixed: Collection[int] = (),
    ) -> None:
        self._index = index
        self._keeps = keeps
        self._values = values or ValueCodec()
        peers = {
            peer
            for link in cut.links
            for peer in (link.source, link.target)
            if index in (link.source, link.target) and peer != index
        }
        self.links = {
            peer: Link(
                f"federate {cut.names[peer]}",
                partial(self._arrived, peer),
                partial(self._ended, peer),
                keep=keeps and peer not in fixed,
                decoder=partial(self._values.decode, peer),
            )
            for peer in sorted(peers)
        }
        """Links to those with which something is exchanged; neighbours only."""
        if base is not None:
            for peer, link in self.links.items():
                link.restore(sent=base.sent[peer], received=base.received[peer])
        self.coordinator = Link(
            "the coordinator", self._ordered, partial(self._ended, -1), keep=False
        )
        self._changed = threading.Condition()
        self._federate: Federate | None = None
        self._orders: list[Message] = []
        self._attached: set[int] = set()
        self._start: Start | None = None
        self._error: LinkError | None = None
        self._aborted = False
        self._released = False
        self._announced = False
        self._closing = False
        self._last: Report | None = None
        self._count = len(cut.names)
        self._saved: tuple[Tag, list[int]] = (BEFORE_ALL, [])
        self._held: Report | None = None
        self._physical = any(cut.physical)
        self._was_ordered = True
        self._quiet_until = 0.0
        self._touched: dict[Link, None] = {}

    @property
    def error(self) -> LinkError | None:
        """The first error of a link."""
        return self._error

    # -- called by the federate, by one thread at a time ----------------------------

    def send(self, peer: int, message: Message) -> None:
        """See ``Wire``.

        Raises:
            CodecError: The value cannot be pickled.
        """
        link = self.links[peer]
        if message.number:
            payload = self._values.encode(peer, message)
            link.put_value(message.with_value(payload))
        else:
            link.put(message)
        self._touched[link] = None

    def tell(self, message: Message) -> None:
        """See ``Wire``."""
        self.coordinator.put(message)
        self._touched[self.coordinator] = None

    def flush(self) -> None:
        """See ``Wire``."""
        touched, self._touched = self._touched, {}
        self._values.forget()
        for link in touched:
            link.flush()

    def report(self, report: Report) -> None:
        """See ``Wire``. Reports that say nothing new are not sent.

        Most waits end by what another federate sends. Then the coordinator is not
        needed, so a report is sent only if it is said a second time, after the first
        short sleep of the core. Not so after an order of the coordinator, which may
        be needed again; nor with physical inputs, whose reports follow the clock; nor
        the last report, which is not said again.
        """
        new = report._replace(taken=0)
        if new == self._last:
            return
        now = time.monotonic()
        prompt = self._physical or self._was_ordered or report.is_over
        if not prompt and new != self._held and now < self._quiet_until:
            self._held = new
            return
        self._last, self._held = new, None
        self._was_ordered = False
        self._quiet_until = now + _QUIET_SECONDS
        self.coordinator.put(report)
        self.coordinator.flush()

    def saved(self, tag: Tag, payload: Payload) -> None:
        """See ``Wire``."""
        self._saved = (
            tag,
            [
                self.links[peer].sent if peer in self.links else 0
                for peer in range(self._count)
            ],
        )
        self.coordinator.put(Saved(tag, payload))
        self.coordinator.flush()

    def request_stop(self) -> None:
        """See ``Wire``."""
        self.coordinator.put(StopRequest())
        self.coordinator.flush()

    def physical(self) -> None:
        """See ``Wire``."""
        self.coordinator.put(Physical())
        self.coordinator.flush()
        with self._changed:
            self._changed.wait_for(
                lambda: self._announced or self._aborted or self._error
            )

    # -- connections ----------------------------------------------------------------

    def hello(self, connection: Connection, hello: Hello) -> None:
        """Use a connection to the coordinator, and say that this federate is ready."""
        self.coordinator.attach(connection)
        self.coordinator.put(hello)
        self.coordinator.flush()

    def wait_for_start(self) -> Start | None:
        """Return when and with whom the run begins; None if it is aborted instead.

        Raises:
            LinkError: The coordinator is gone.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._start is not None or self._aborted or self._error
            )
            if self._error is not None:
                raise self._error
            return None if self._aborted else self._start

    def bind(self, federate: Federate) -> None:
        """Deliver what arrives to a federate. Before ``attach``."""
        with self._changed:
            self._federate = federate
            orders, self._orders = self._orders, []
            # Under the lock: orders that arrive meanwhile must come after these.
            for order in orders:
                federate.take_order(order)
            if self._error is not None:
                federate.take_order(ABORT)

    def attach(self, peer: int, connection: Connection) -> None:
        """Use a connection to another federate; promises and demands are said again.

        Raises:
            LinkError: The connection cannot be used.
        """
        federate = self._federate
        assert federate is not None
        link = self.links[peer]
        link.lose(_ReplacedError("the connection was replaced", peer=link.peer))
        link.attach(connection)
        federate.repeat(peer)
        with self._changed:
            self._attached.add(peer)
            self._changed.notify_all()

    def wait_for_links(self) -> bool:
        """Wait until all links are connected; False if the run is aborted instead.

        Raises:
            LinkError: A peer is gone.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    len(self._attached) == len(self.links)
                    or self._aborted
                    or self._error
                )
            )
            if self._error is not None:
                raise self._error
            return not self._aborted

    def finish(self, result: Finished | Failed) -> None:
        """Give the coordinator the result of the run.

        If federates may begin again, wait until all have ended: until then they need
        what this one has sent.

        Args:
            result: What the coordinator gets.
        """
        self.coordinator.put(result)
        self.coordinator.flush()
        with self._changed:
            if self._keeps and self._start is not None:
                self._changed.wait_for(
                    lambda: self._released or self._aborted or self._error
                )
            self._closing = True

    def close(self, status: int, *, timeout: float = 60.0) -> None:
        """End all connections.

        Args:
            status: Exit status of this process.
            timeout: Seconds that a peer has to receive what is left.
        """
        with self._changed:
            self._closing = True
            if self._aborted or self._error is not None:  # no peer needs anything more
                timeout = min(timeout, _ABORTED_SECONDS)
        for link in self.links.values():
            link.close(status, timeout=timeout)
        self.coordinator.close(status, timeout=timeout)

    # -- called by threads of links -------------------------------------------------

    def _arrived(self, peer: int, batch: Sequence[Frame]) -> None:
        federate = self._federate
        assert federate is not None  # bound before a link is attached
        for frame in batch:
            if isinstance(frame, Message):
                federate.take(peer, frame)
            elif not isinstance(frame, Bye):
                self._unexpected(self.links[peer], frame)

    def _ordered(self, batch: Sequence[Frame]) -> None:
        for frame in batch:
            with self._changed:
                if isinstance(frame, Message):
                    self._was_ordered = True
                    if self._federate is not None:
                        self._federate.take_order(frame)
                    else:
                        self._orders.append(frame)
                    self._aborted = self._aborted or frame == ABORT
                elif isinstance(frame, Start):
                    self._start = frame
                elif isinstance(frame, Save) and self._federate is not None:
                    self._federate.save_after(frame.tag)
                elif isinstance(frame, Kept):
                    if self._saved[0] == frame.tag:
                        self.forget(self._saved[1])
                elif isinstance(frame, Release):
                    self._released = True
                elif isinstance(frame, Physical):
                    self._announced = True
                elif isinstance(frame, Probe):
                    federate = self._federate
                    known = None if federate is None else federate.progress()
                    self.coordinator.put(answer(frame, known))
                    self.coordinator.flush()
                elif not isinstance(frame, Bye):
                    self._unexpected(self.coordinator, frame)
                self._changed.notify_all()

    def _unexpected(self, link: Link, frame: Frame) -> None:
        msg = f"{link.peer} sent a frame that it must not send: {type(frame).__name__}"
        raise FrameError(msg, peer=link.peer)

    def forget(self, sent: Sequence[int]) -> None:
        """Forget values up to these numbers, per federate."""
        for peer, link in self.links.items():
            link.forget(sent[peer])

    def fail(self, error: LinkError) -> None:
        """End the federate because a link cannot be used."""
        self._ended(-1, error)

    def _ended(self, peer: int, error: LinkError | None) -> None:
        """Note the end of a connection; without a farewell, end the federate."""
        if error is None or isinstance(error, _ReplacedError):
            return
        is_process = isinstance(error, PeerLostError) and not error.wire
        if peer >= 0 and self._keeps and is_process:
            return  # it begins again, or the coordinator ends all
        with self._changed:
            if self._closing or self._error is not None:
                return
            self._error = error
            if self._federate is not None:
                self._federate.take_order(ABORT)
            self._changed.notify_all()
