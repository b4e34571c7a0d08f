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
    Kept,
    Physical,
    Reading,
    Release,
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
    from collections.abc import Callable, Sequence

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
        restarts: How often a federate begins again that is lost. The members must keep
            what they send.
        begin_again: Called by a thread of its own with a federate, the number of its
            next life, and why it was lost: starts a process, or raises an error.
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
        restarts: int = 0,
        begin_again: Callable[[int, int, LinkError], object] | None = None,
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
        self._restarts = restarts
        self._begin_again = begin_again
        self._lives = [1] * self._count
        self._last_tags: dict[int, Tag] = {}
        self._physical: set[int] = set()
        self._saving: Tag | None = None
        self._saved_lives: list[int] = []
        self._begun = self._released = self._closed = False
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

    def lost(
        self, federate: int, why: str, life: int = 1, *, by_itself: bool = False
    ) -> None:
        """Note that the process of a federate is gone; it begins again, or all end.

        Args:
            federate: Its number.
            why: How it ended, as the end of a sentence.
            life: Which life of it.
            by_itself: Whether it ended by itself; before the first tag that is not
                an accident, and would happen again.
        """
        link = self._links[federate]
        error = PeerLostError(f"{link.peer} was lost: {why}", peer=link.peer)
        link.lose(error, life=life)
        with self._changed:
            if not self._is_over(federate, life):
                self._lose(federate, error, final=by_itself and not self._begun)

    def process_ended(
        self, federate: int, how: str, life: int = 1, *, by_itself: bool = False
    ) -> None:
        """Note that the process of a federate has ended; waits for its last frames.

        Not for threads of links. A process that was connected has said how it ended, or
        the end of its connection tells; unless a process that it had started holds the
        connection open.
        """
        with self._changed:
            if federate in self._hellos or self._links[federate].is_connected:
                self._changed.wait_for(
                    lambda: self._is_over(federate, life), _LAST_SECONDS
                )
            if self._is_over(federate, life):
                return
        self.lost(federate, how, life, by_itself=by_itself)

    def _is_over(self, federate: int, life: int) -> bool:
        return federate in self._over or life < self._lives[federate]

    def request_stop(self) -> None:
        """End the program at the next tag at which all federates can."""
        with self._changed:
            self._request_stop()

    @property
    def restarts_left(self) -> int:
        """How often a federate may still begin again."""
        return self._restarts

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
            self._saved, self._saving = {}, tag
            self._saved_lives = list(self._lives)
            for index in sorted(others):
                self._links[index].put(Save(tag))
            # Said again, so that those that wait look at what they were asked.
            self._send(self._coordinator.advance(tag, driver))
            self._changed.wait_for(
                lambda: others <= self._saved.keys() or self._aborted or self._over
            )
            self._saving = None
            if others <= self._saved.keys():
                return {index: self._saved[index] for index in sorted(others)}
        raise RunOverError

    def keep(self, tag: Tag, driver: int, kept: Callable[[], object]) -> None:
        """Let federates that are lost begin again after a tag, unless one has since.

        Args:
            tag: That of the last ``save``.
            driver: The federate that knows by itself.
            kept: Called if that holds from now on.
        """
        with self._changed:
            if self._lives != self._saved_lives:
                return
            kept()
            for index, link in enumerate(self._links):
                if index != driver:
                    link.put(Kept(tag))
                    link.flush()

    def close(self) -> None:
        """Accept nothing more, and end all connections."""
        with self._changed:
            self._closed = True
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
        msg = f"{error.what}; {self.last_tag(index)}"
        if index in self._physical and self._begin_again is not None:
            msg += ", and it cannot be repeated, because it has used physical inputs"
        remedy = "The run ended, because the others need it."
        wire = isinstance(error, PeerLostError) and error.wire
        found = PeerLostError(msg, remedy, peer=f"federate {name}", wire=wire)
        found.__cause__ = error
        return found

    def last_tag(self, index: int) -> str:
        """Return how far a federate had come, as the end of a sentence."""
        report = self._coordinator.reports.get(index)
        done = self._last_tags.get(index, BEFORE_ALL)
        if report is not None and report.done != BEFORE_ALL:
            done = report.done
        if done == BEFORE_ALL:
            return "it had not reported a tag"
        elapsed = Tag(done.time - self._started_at, done.microstep)
        return f"the last tag that it reported is {elapsed}"

    # -- connections, by threads of the listener ------------------------------------

    def _admit(self, rank: int) -> Admission | None:
        if not 0 <= rank < self._count:
            return None
        link = self._links[rank]
        return Admission(self._lives[rank], link.received, link.peer)

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
                elif self._begun:
                    self._continue(federate)
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
            case Physical():
                self._physical.add(federate)
                self._links[federate].put(frame)
                self._links[federate].flush()
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
        if len(self._results) == self._count and not self._released:
            self._released = True
            for link in self._links:
                link.put(Release())
                link.flush()

    def _begin(self) -> None:
        """Start all federates. The lock is held."""
        self._begun = True
        options = self._options
        clock = time.time_ns()  # noqa: TID251 - the first tag is the wall clock
        now = 0 if options.fast else clock + _LEAD
        now += -now % self._start_multiple
        self._started_at = now if options.start_time is None else options.start_time
        start = Start(self._started_at, {"addresses": self._addresses()})
        for link in self._links:
            link.put(start)
        self._send(self._coordinator.begin(Tag(self._started_at, 0)))
        if self._stopping:
            self._request_stop()
        for link in self._links:
            link.flush()

    def _addresses(self) -> list[object]:
        """Return where federates listen; None for those that are not there."""
        return [
            None
            if (hello := self._hellos.get(index)) is None
            else hello.facts.get("address")
            for index in range(self._count)
        ]

    def _continue(self, federate: int) -> None:
        """Let a new life of a federate begin. The lock is held."""
        link = self._links[federate]
        facts = {"addresses": self._addresses(), "again": True}
        link.put(Start(self._started_at, facts))
        self._send(self._coordinator.forget(federate))
        if self._saving is not None:
            link.put(Save(self._saving))
        link.flush()

    def _request_stop(self) -> None:
        """End the program, if it has begun, else as soon as it does."""
        self._stopping = True
        if self._begun:
            self._send(self._coordinator.request_stop())

    def _send(self, orders: Orders) -> None:
        """Send orders of the coordinator. The lock is held."""
        for federate, message in orders:
            self._links[federate].put(message)
        for federate in sorted({federate for federate, _ in orders}):
            self._links[federate].flush()

    def _ended(self, federate: int, error: LinkError | None) -> None:
        with self._changed:
            if self._links[federate].life < self._lives[federate]:
                return  # it was known, and the next life is on its way
            if error is None and federate not in self._results:
                name = self._cut.names[federate]
                error = PeerLostError(f"federate {name} ended without a result")
            if error is not None:
                self._lose(federate, error)
            else:
                self._over.add(federate)
            self._changed.notify_all()

    def _lose(self, federate: int, error: LinkError, *, final: bool = False) -> None:
        """Begin a federate again that is gone, or end all. The lock is held."""
        report = self._coordinator.reports.get(federate)
        if report is not None and report.done != BEFORE_ALL:
            self._last_tags[federate] = report.done
        if self._released and self._begin_again is not None and not self._aborted:
            self._over.add(federate)  # nothing of it is needed any more
            return
        if not final and self._can_return(federate, error):
            self._restarts -= 1
            self._lives[federate] += 1
            self._hellos.pop(federate, None)
            self._results.pop(federate, None)
            self._coordinator.forget(federate)
            threading.Thread(
                target=self._return,
                args=[federate, self._lives[federate], error],
                name=f"next life of {self._links[federate].peer}",
                daemon=True,
            ).start()
            self._changed.notify_all()
            return
        self._lost.setdefault(federate, error)
        self._over.add(federate)
        self._abort()
        self._changed.notify_all()

    def _can_return(self, federate: int, error: LinkError) -> bool:
        """Return whether a federate that is gone can begin again.

        All others must be there still, with what they have sent, and it must do again
        what it did.
        """
        return (
            self._restarts > 0
            and self._begin_again is not None
            and not (self._aborted or self._released or self._closed or self._over)
            and federate not in self._physical
            and isinstance(error, PeerLostError)
            and not error.wire
        )

    def _return(self, federate: int, life: int, error: LinkError) -> None:
        assert self._begin_again is not None
        try:
            self._begin_again(federate, life, error)
        except Exception as failure:  # the others would wait forever
            self.lost(federate, f"it could not begin again: {failure}", life)

    def _abort(self) -> None:
        """End all federates, whatever they do. The lock is held."""
        if not self._aborted:
            self._aborted = True
            self._send([(index, ABORT) for index in range(self._count)])
