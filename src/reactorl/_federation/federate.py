# SPDX-License-Identifier: Apache-2.0
"""A federate: the run of one part of a program, and its wires to the others.

The core says what is to be sent and takes in what arrives; here values get their
numbers, are kept for those who may need them again, and are dropped if they come twice.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from operator import add
from typing import TYPE_CHECKING, Final, Protocol

from reactorl._federation.codec import encode
from reactorl._federation.link_errors import CodecError
from reactorl._federation.merge import FederateTrace
from reactorl._federation.messages import BEFORE_ALL, Kind, Message, Report
from reactorl._federation.parts import partial_result
from reactorl._federation.probes import Progress
from reactorl._program.cut import Part
from reactorl._runtime.federated import ElsewhereError, Federated
from reactorl._runtime.live import Live
from reactorl.errors import ReactorlError
from reactorl.tag import Tag

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from reactorl._federation.codec import Payload
    from reactorl._federation.parts import PartialResult
    from reactorl._program.cut import Cut
    from reactorl._program.program import Program
    from reactorl._runtime.federated import CoreMessage, CoreReport
    from reactorl._runtime.options import Options
    from reactorl._runtime.recording import Recording
    from reactorl._runtime.watch import Watch


_KINDS: Final = tuple(Kind)
_NUMBERED: Final = int(max(kind for kind in Kind if kind.numbered))


class Wire(Protocol):
    """The ways of one federate to the others and to the coordinator.

    Messages to one federate arrive in the order in which they are sent. Called by one
    thread at a time; must not wait for an answer.
    """

    def send(self, peer: int, message: Message) -> None:
        """Send a message to another federate, at the latest with ``flush``."""

    def tell(self, message: Message) -> None:
        """Send a message to the coordinator, at the latest with ``flush``."""

    def flush(self) -> None:
        """Send what was given to ``send`` and ``tell`` up to now."""

    def report(self, report: Report) -> None:
        """Send a report to the coordinator; only the latest one matters."""

    def saved(self, tag: Tag, payload: Payload) -> None:
        """Send the state after a tag to the coordinator."""

    def request_stop(self) -> None:
        """Ask the coordinator to end the program."""

    def physical(self) -> None:
        """Tell the coordinator that this federate cannot be repeated, and wait."""


@dataclass(frozen=True, slots=True)
class Base:
    """Where a new life of a federate begins: after a tag, from a saved state.

    Attributes:
        sent: How many values it had sent, per federate.
        received: How many had been sent to it.
        tag: The tag.
    """

    sent: tuple[int, ...]
    received: tuple[int, ...]
    tag: Tag = BEFORE_ALL


class Federate:
    """One federate of a run.

    ``run`` is called by one thread; ``take`` and ``take_order`` by any.

    Args:
        program: The whole program.
        cut: How it is cut; the same for all federates.
        index: Which of them this is.
        options: Options of the run, with a start time; the same for all federates but
            for ``workers``.
        wire: The ways to the others.
        replay: Where physical inputs come from.
        record: Where physical inputs go to.
        keeps: Whether values that were sent are kept here, to send them again to a
            federate that begins again; links do it themselves.
        repeats: Whether it may have to begin again itself: the first physical input is
            announced.
        base: Where it begins; None: at the beginning.
        at_start: Called with a ``Watch`` before the first tag.
    """

    def __init__(
        self,
        program: Program,
        cut: Cut,
        index: int,
        options: Options,
        wire: Wire,
        *,
        replay: Recording | None = None,
        record: Recording | None = None,
        keeps: bool = False,
        repeats: bool = False,
        base: Base | None = None,
        at_start: Callable[[Watch], object] | None = None,
    ) -> None:
        if options.start_time is None:
            msg = "start_time must be the same time for all federates, got None"
            raise ValueError(msg)
        self.index = index
        self._wire = wire
        self._keeps = keeps
        count = len(cut.names)
        self._base = base or Base((0,) * count, (0,) * count)
        self._sent = list(self._base.sent)
        self._received = list(self._base.received)
        self._kept: list[list[Message]] = [[] for _ in range(count)]
        self._said: list[dict[tuple[Kind, bool], Message]] = [{} for _ in range(count)]
        self._lock = threading.RLock()
        self._save_after: Tag | None = None
        self._watch: Watch | None = None
        self._at_start = at_start
        self.save: Callable[[], object] | None = None
        """Returns the state of this federate between two tags; see ``save_after``."""
        self.trace: FederateTrace | None = None
        self.result: PartialResult | None = None
        """How the run ended; None before, and after an error."""
        self.live = Live(
            program,
            options,
            record=record,
            replay=replay,
            at_start=self._begin,
            federated=Federated(
                Part(cut, index), self, wire.physical if repeats else None
            ),
        )

    def run(self) -> bool:
        """Run to the end; return False if it ended because another federate failed.

        Raises:
            ReactionError: A body of this federate raised.
        """
        live = self.live
        cause: BaseException | None = None
        try:
            if live.start() == "running":
                live.after(live.session.run())
            live.finished()
            self.result = partial_result(live, whole=True)
        except ElsewhereError:
            return False
        except BaseException as error:
            cause = error
            raise
        finally:
            if live.options.trace is not False:
                session = live.session
                self.trace = FederateTrace(
                    live.planned, session.trace_bytes(), session.trace_values()
                )
            live.close(cause)
            cause = None  # its traceback refers to this frame
        return True

    # -- what arrives ---------------------------------------------------------------

    def take(self, peer: int, message: Message) -> bool:
        """Take a message of another federate; return whether it said anything new.

        A value that comes twice is dropped, but not the promise that rides on it: a new
        life of its sender may not have made it again.

        Raises:
            ReactorlError: A value is missing before this one.
        """
        if message.number:
            expected = self._received[peer] + 1
            if message.number < expected:
                if (promised := message.promised) is None:
                    return False
                self._put(peer, promised)
                return True
            if message.number > expected:
                msg = (
                    f"values {expected} to {message.number - 1} of federate {peer} "
                    "are missing"
                )
                raise ReactorlError(msg)
            self._received[peer] = message.number
        self._put(peer, message)
        return True

    def take_order(self, message: Message) -> None:
        """Take a message of the coordinator."""
        self._put(self.index, message)

    def _put(self, peer: int, message: Message) -> None:
        kind, final, tag, place, at, key, value, _, promise = message
        rides = None if promise is None else (*promise[0], *promise[1])
        self.live.session.put(kind, final, peer, *tag, place, *at, key, value, rides)

    def _begin(self, watch: Watch) -> None:
        self._watch = watch
        if self._at_start is not None:
            self._at_start(watch)

    def progress(self) -> Progress | None:
        """Return the progress of this federate; None before its first tag."""
        watch = self._watch
        return None if watch is None else Progress(watch.sample(), time.process_time())

    def save_after(self, tag: Tag) -> None:
        """Send the coordinator the state after a tag, before any later one begins.

        It is read when the core waits next, on its thread: the caller sees to it that
        no later tag may begin before, and that something arrives.
        """
        self._save_after = tag

    # -- what a new life of another federate needs ----------------------------------

    def silence(self) -> AbstractContextManager[object]:
        """Let it say nothing meanwhile: what it said and what it will say are complete.

        Enter it before any lock that its wire takes.
        """
        return self._lock

    def say_again(self, peer: int, received: int) -> list[Message]:
        """Return what a new life of a federate must hear, in order.

        Args:
            peer: The federate.
            received: How many values of this link it has, in its checkpoint.
        """
        with self._lock:
            said = self._said[peer]
            return [
                *self._kept[peer][received:],
                *(said[each] for each in sorted(said)),
            ]

    def repeat(self, peer: int) -> None:
        """Send promises and demands again, over a new connection to a federate."""
        with self._lock:
            said = self._said[peer]
            for each in sorted(said):
                self._wire.send(peer, said[each])
            self._wire.flush()

    # -- what the core says ---------------------------------------------------------

    def say(self, messages: list[CoreMessage]) -> None:
        """Send messages of the core. Called by it, on a worker's thread."""
        with self._lock:
            for each in messages:
                self._say(each)
            self._wire.flush()

    def _say(self, said: CoreMessage) -> None:
        number, final, peer, time, step, index, at, at_step, key, value, rides = said
        kind = _KINDS[number]
        promise = None if rides is None else (Tag(*rides[:2]), Tag(*rides[2:]))
        if number <= _NUMBERED:
            if Tag(time, step) <= self._base.tag:
                msg = f"a value was sent again at {Tag(time, step)}, which is saved"
                raise ReactorlError(msg)
            count = self._sent[peer] = self._sent[peer] + 1
        else:
            count = 0
        tag, later = Tag(time, step), Tag(at, at_step)
        message = Message(kind, final, tag, index, later, key, value, count, promise)
        if count:
            if self._keeps:
                self._kept[peer].append(message)
            if promise is not None:
                self._said[peer][Kind.PROMISE, False] = Message(
                    Kind.PROMISE, tag=promise[0], at=promise[1]
                )
        elif kind.for_coordinator:
            self._wire.tell(message)
            return
        else:
            self._said[peer][kind, final] = message
        self._wire.send(peer, message)

    def wait(self, report: CoreReport) -> None:
        """Report to the coordinator. Called by the core, on a worker's thread."""
        n, n_step, b, b_step, d, d_step, h, h_step, inside, taken, sent, received = (
            report
        )
        self._wire.report(
            Report(
                Tag(n, n_step),
                Tag(b, b_step),
                Tag(d, d_step),
                Tag(h, h_step),
                inside,
                taken,
                tuple(map(add, sent, self._base.sent)),
                tuple(map(add, received, self._base.received)),
            )
        )
        after = self._save_after
        if after is None or inside or not Tag(d, d_step) >= after < Tag(n, n_step):
            return
        self._save_after = None
        if self.save is None:
            msg = "the state of a federate was asked for, which cannot be saved"
            raise ReactorlError(msg)
        state = self.save()
        try:
            payload = encode((state, self.numbers()))
        except CodecError:
            encode(state)  # whose error names the type of the state
            raise
        self._wire.saved(after, payload)

    def numbers(self) -> Base:
        """Return how many values it has sent and received, per federate."""
        return Base(tuple(self._sent), tuple(self._received))

    def request_stop(self) -> None:
        """Ask for the end of the program from outside of its reactions."""
        self._wire.request_stop()
