# SPDX-License-Identifier: Apache-2.0
"""The coordinator as a server: links to all federates, and how the run ended.

Frames of all federates are handled under one lock, in the order in which they arrive:
what the coordinator decides may come earlier or later by that, but is never another
decision. Where several federates fail, the order of the program decides which error is
raised, then the order of the federates.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from reactorl._federation.codec import decode
from reactorl._federation.coordinator import Coordinator
from reactorl._federation.endpoint import Listener
from reactorl._federation.failures import unpack_error
from reactorl._federation.frames import (
    Bye,
    Failed,
    Finished,
    Hello,
    Reading,
    Save,
    Saved,
    Start,
    StopRequest,
)
from reactorl._federation.handshake import COORDINATOR, Admission, Identity, Purpose
from reactorl._federation.link import Link
from reactorl._federation.link_errors import FrameError, LinkError, PeerLostError
from reactorl._federation.member import run_digest
from reactorl._federation.messages import BEFORE_ALL, Kind, Message, Report
from reactorl._federation.network import ABORT
from reactorl._federation.probes import Probes
from reactorl._federation.watch import Watches
from reactorl.tag import Tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl._federation.certificate import Certificate
    from reactorl._federation.codec import Payload
    from reactorl._federation.coordinator import Orders
    from reactorl._federation.endpoint import Address
    from reactorl._federation.frames import Frame
    from reactorl._federation.handshake import Connection
    from reactorl._federation.parts import PartialResult
    from reactorl._federation.secret import RunSecret
    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.options import Options


class RunOverError(Exception):
    """The run has ended, so a driver cannot continue it; ``run`` has the reason."""


_LEAD: int = 200_000_000
"""Nanoseconds between the start and the time of the first tag, unless ``fast``."""

_LAST_SECONDS: float = 5.0


class CoordinatorServer:
    """The coordinator of one run.

    Args:
        program: The whole program.
        cut: How it is cut.
        options: Options of the run, the same for all federates.
        secret: The run's secret.
        address: Where federates connect.
        window: See ``Coordinator``.
        certificate: For encrypted links; None sends everything in clear.
        start_multiple: The time of the first tag is a multiple of this, unless it is
            among the options.
        patience: Seconds that federates have to connect, and for a handshake.
        grace: Seconds that they have to end if another one is gone; default: the same.
    """

    def __init__(
        self,
        program: Program,
        cut: Cut,
        options: Options,
        secret: RunSecret,
        address: Address,
        *,
        window: int | None = None,
        certificate: Certificate | None = None,
        start_multiple: int = 1,
        patience: float = 60.0,
        grace: float | None = None,
    ) -> None:
        self._program = program
        self._cut = cut
        self._options = options
        self._start_multiple = start_multiple
        self._patience = patience
        self._grace = patience if grace is None else grace
        self._coordinator = Coordinator(cut, keepalive=options.keepalive, window=window)
        self._changed = threading.Condition()  # guards everything below
        self._count = len(cut.names)
        self._links = [
            Link(
                f"federate {name}",
                partial(self._arrived, index),
                partial(self._ended, index),
                keep=False,
            )
            for index, name in enumerate(cut.names)
        ]
        self.probes = Probes(self._links, clocks=options.timing > 0)
        """Clocks and progress of the federates."""
        self._watches = Watches()
        self._hellos: dict[int, Hello] = {}
        self._saved: dict[int, Payload] = {}
        self._results: dict[int, Finished | Failed] = {}
        self._over: set[int] = set()
        self._lost: dict[int, LinkError] = {}
        self._refusals: list[LinkError] = []
        self._failing: set[int] = set()
        self._aborted = False
        self._started_at = 0
        self._stopping = False
        identity = Identity(
            COORDINATOR, 1, run_digest(cut, options), secret, certificate, patience
        )
        self._listener = Listener(
            address, identity, self._admit, self._accept, self._refused
        )

    @property
    def address(self) -> Address:
        """Where federates connect."""
        return self._listener.address

    def run(self) -> list[PartialResult]:
        """Wait for the federates, let them run, and return their results.

        Raises:
            LinkError: Federates did not connect in time.
            PeerLostError: A federate is gone.
            ReactionError: A body raised; other errors of federates likewise.
        """
        try:
            with self._changed:
                self._await_hellos()
                self._changed.wait_for(self._may_end)
                self._changed.wait_for(self._all_over, self._grace)
                self._raise_failure()
                results = [self._results[index] for index in range(self._count)]
        finally:
            self.close()
        return [decode(*result.payload) for result in results]

    def lost(self, federate: int, why: str) -> None:
        """Note that the process of a federate is gone; others are ended."""
        link = self._links[federate]
        error = PeerLostError(f"{link.peer} was lost: {why}", peer=link.peer)
        link.lose(error)
        with self._changed:
            if federate not in self._over:
                self._lose(federate, error)

    def process_ended(self, federate: int, how: str) -> None:
        """Note that the process of a federate has ended; waits for its last frames.

        Not for threads of links. A process that was connected has said how it ended, or
        the end of its connection tells; unless a process that it had started holds the
        connection open.
        """
        with self._changed:
            if federate in self._hellos or self._links[federate].is_connected:
                self._changed.wait_for(lambda: federate in self._over, _LAST_SECONDS)
            if federate in self._over:
                return
        self.lost(federate, how)

    def request_stop(self) -> None:
        """End the program at the next tag at which all federates can."""
        with self._changed:
            self._request_stop()

    # -- for the driver of a program, in this process --------------------------------

    def advance(self, tag: Tag, driver: int) -> None:
        """Let federates begin tags up to this one; see ``Coordinator``."""
        with self._changed:
            self._send(self._coordinator.advance(tag, driver))

    def save(self, tag: Tag, driver: int) -> dict[int, Payload]:
        """Return the states of all federates but the driver, after a tag.

        No later tag may begin before; see ``advance``. Waits until all have run it.

        Raises:
            RunOverError: The run ended meanwhile; ``run`` says why.
        """
        others = {index for index in range(self._count) if index != driver}
        with self._changed:
            self._saved = {}
            for index in sorted(others):
                self._links[index].put(Save(tag))
            # Said again, so that those that wait look at what they were asked.
            self._send(self._coordinator.advance(tag, driver))
            self._changed.wait_for(
                lambda: others <= self._saved.keys() or self._aborted or self._over
            )
            if others <= self._saved.keys():
                return {index: self._saved[index] for index in sorted(others)}
        raise RunOverError

    def close(self) -> None:
        """Accept nothing more, and end all connections."""
        with self._changed:
            if len(self._over) < self._count:
                self._abort()
        self._listener.close()
        for link in self._links:
            link.close(timeout=0)
        self._watches.close()

    # -- waiting --------------------------------------------------------------------

    def _await_hellos(self) -> None:
        self._changed.wait_for(
            lambda: len(self._hellos) == self._count or self._aborted, self._patience
        )
        missing = [
            name
            for index, name in enumerate(self._cut.names)
            if index not in self._hellos and index not in self._lost
        ]
        if not missing or self._aborted:
            return
        msg = f"starting the federation failed: {', '.join(missing)} did not connect "
        msg += f"within {self._patience:g} s"
        error = LinkError(msg, "Check that their processes run.")
        for refusal in self._refusals:
            error.add_note(f"A connection was refused: {refusal}")
        raise error

    def _may_end(self) -> bool:
        """Whether all are over, or the others of one that is gone have little time.

        If a reaction failed, others run up to there, which takes as long as it takes.
        """
        return self._all_over() or self._aborted

    def _all_over(self) -> bool:
        return len(self._over) == self._count

    def _raise_failure(self) -> None:
        """Raise the first failure, if there is one.

        First the reaction that failed first, in the order of the program; then
        federates that are gone, and other errors, in the order of federates. That a
        federate misses another one is the consequence of something else.
        """
        first = self._coordinator.failed
        if first is not None and isinstance(failed := self._results.get(first), Failed):
            error = unpack_error(failed, self._cut.names[first])
            for index in sorted(self._lost):
                error.add_note(str(self._gone(index)))
            raise error
        if self._lost:
            raise self._gone(min(self._lost))
        errors = [
            unpack_error(each, self._cut.names[index])
            for index, each in sorted(self._results.items())
            if isinstance(each, Failed)
        ]
        errors.sort(key=lambda error: isinstance(error, PeerLostError))  # stable
        if errors:
            raise errors[0]
        hanging = [
            name
            for index, name in enumerate(self._cut.names)
            if index not in self._over
        ]
        if hanging:
            msg = f"{', '.join(hanging)} did not end within {self._grace:g} s"
            raise LinkError(msg)

    def _gone(self, index: int) -> LinkError:
        """Return the error for a federate that is gone, with its last tag."""
        error = self._lost[index]
        name = self._cut.names[index]
        report = self._coordinator.reports.get(index)
        last = "it had not reported a tag"
        if report is not None and report.done != BEFORE_ALL:
            begin = self._started_at
            done = Tag(report.done.time - begin, report.done.microstep)
            last = f"the last tag that it reported is {done}"
        msg = f"{error.what}; {last}"
        remedy = "The run ended, because the others need it."
        wire = isinstance(error, PeerLostError) and error.wire
        found = PeerLostError(msg, remedy, peer=f"federate {name}", wire=wire)
        found.__cause__ = error
        return found

    # -- connections, by threads of the listener ------------------------------------

    def _admit(self, rank: int) -> Admission | None:
        if not 0 <= rank < self._count:
            return None
        link = self._links[rank]
        return Admission(max(link.life, 1), link.received, link.peer)

    def _accept(self, connection: Connection) -> None:
        with self._changed:
            again = connection.rank in self._hellos or connection.rank in self._over
        if connection.purpose is Purpose.WATCH:
            self._watches.add(connection, self._links[connection.rank])
            return
        if again:
            connection.wire.close()
            return
        self._links[connection.rank].attach(connection)

    def _refused(self, error: LinkError) -> None:
        with self._changed:
            self._refusals.append(error)

    # -- frames, by threads of links ------------------------------------------------

    def _arrived(self, federate: int, batch: Sequence[Frame]) -> None:
        with self._changed:
            for frame in batch:
                self._take(federate, frame)
            self._changed.notify_all()

    def _take(self, federate: int, frame: Frame) -> None:
        match frame:
            case Report():
                self._send(self._coordinator.on_report(federate, frame))
            case Message():
                self._send(self._coordinator.on_message(federate, frame))
                if frame.kind is Kind.FAILURE:
                    self._failing.add(federate)
            case Hello():
                self._hellos[federate] = frame
                self.probes.begin(federate, frame.facts)
                if self._aborted:  # before it was connected
                    self._send([(federate, ABORT)])
                elif len(self._hellos) == self._count:
                    self._begin()
            case StopRequest():
                self._request_stop()
            case Failed():
                self._results[federate] = frame
                if federate not in self._failing:  # no reaction: others cannot know
                    self._abort()
            case Finished():
                self._results[federate] = frame
            case Saved():
                self._saved[federate] = frame.payload
            case Reading():
                self.probes.take(federate, frame)
            case Bye():
                pass
            case _:
                msg = f"federate {self._cut.names[federate]} sent a frame that it must "
                msg += f"not send: {type(frame).__name__}"
                raise FrameError(msg, peer=self._links[federate].peer)

    def _begin(self) -> None:
        """Start all federates. The lock is held."""
        options = self._options
        clock = time.time_ns()  # noqa: TID251 - the first tag is the wall clock
        now = 0 if options.fast else clock + _LEAD
        now += -now % self._start_multiple
        self._started_at = now if options.start_time is None else options.start_time
        addresses = [
            self._hellos[index].facts.get("address") for index in range(self._count)
        ]
        start = Start(self._started_at, {"addresses": addresses})
        for link in self._links:
            link.put(start)
        self._send(self._coordinator.begin(Tag(self._started_at, 0)))
        if self._stopping:
            self._request_stop()
        for link in self._links:
            link.flush()

    def _request_stop(self) -> None:
        """End the program, if it has begun, else as soon as it does."""
        self._stopping = True
        if len(self._hellos) == self._count:
            self._send(self._coordinator.request_stop())

    def _send(self, orders: Orders) -> None:
        """Send orders of the coordinator. The lock is held."""
        for federate, message in orders:
            self._links[federate].put(message)
        for federate in sorted({federate for federate, _ in orders}):
            self._links[federate].flush()

    def _ended(self, federate: int, error: LinkError | None) -> None:
        with self._changed:
            if error is None and federate not in self._results:
                name = self._cut.names[federate]
                error = PeerLostError(f"federate {name} ended without a result")
            if error is not None:
                self._lose(federate, error)
            self._over.add(federate)
            self._changed.notify_all()

    def _lose(self, federate: int, error: LinkError) -> None:
        """End all because a federate is gone. The lock is held."""
        self._lost.setdefault(federate, error)
        self._over.add(federate)
        self._abort()
        self._changed.notify_all()

    def _abort(self) -> None:
        """End all federates, whatever they do. The lock is held."""
        if not self._aborted:
            self._aborted = True
            self._send([(index, ABORT) for index in range(self._count)])
