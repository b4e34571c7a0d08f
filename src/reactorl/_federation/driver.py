# SPDX-License-Identifier: Apache-2.0
"""A driven program whose parts run in several processes; see ``drive``.

The federate with the main reactor, the *head*, runs in the process of the caller and
thread of the caller. The others run in their processes as far as the caller has come:
no tag after that of the current step begins anywhere. So the state of all of them can
be read between two steps, and the program ends where one process would end it.
"""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from reactorl._federation.codec import decode, encode
from reactorl._federation.coordinator_server import RunOverError
from reactorl._federation.failures import pack_error
from reactorl._federation.frames import Finished
from reactorl._federation.launch.job import Restored
from reactorl._federation.launch.local import LocalFederates
from reactorl._federation.member import NOTHING, run_digest
from reactorl._federation.messages import BEFORE_ALL, Kind, Message
from reactorl._federation.parts import PartialResult, partial_result, whole_result
from reactorl._federation.watching import FederationWatch
from reactorl._program.cut import cut_program
from reactorl._program.elaborate import elaborate
from reactorl._runtime.drive import Session
from reactorl._runtime.federated import ElsewhereError
from reactorl.errors import ProgramError
from reactorl.tag import MAX_MICROSTEP, Duration, Tag, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from reactorl._decl.reactor import Reactor
    from reactorl._federation.federate import Base, Federate
    from reactorl._federation.frames import Failed
    from reactorl._federation.member import Member
    from reactorl._program.cut import Cut
    from reactorl._program.placement import Federation
    from reactorl._program.program import Program
    from reactorl._runtime.drive import Outputs
    from reactorl._runtime.options import Options
    from reactorl._runtime.result import Result
    from reactorl._runtime.watch import Watch

HEAD: Final = 0
"""The federate with the main reactor: the first one of every cut."""


@dataclass(frozen=True)
class DrivenSource:
    """A program that is driven: what goes to the other processes. See ``Source``.

    Attributes:
        main: The class of the main reactor.
        given: Its parameters.
        preload: Values in flight: port, value, and when it was set.
        state: Reads the state of a federate from the main reactor.
    """

    main: type[Reactor]
    given: Mapping[str, Any]
    preload: tuple[tuple[str, object, Duration], ...]
    state: Callable[[Any], object] | None

    def program(self) -> Program:
        """See ``Source``."""
        return elaborate(self.main(**self.given))

    def prepare(self, federate: str) -> None:
        """Leave signals to the driver, which ends all federates.

        SIGTERM is sent to whole groups of processes (timeout, systemd, Slurm), SIGHUP
        by a terminal that is closed. A handler is not inherited by other programs.
        """
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _ignore)

    def extra(self) -> object:
        """See ``Source``."""
        return None

    def attend(self, federate: Federate) -> None:
        """Let a federate begin no tag but the first one until the driver has asked."""
        live, state = federate.live, self.state
        for port, value, sent in self.preload:
            live.preload(port, value, nanoseconds(sent))
        if state is not None:
            federate.save = lambda: state(live.main)
        horizon = Tag(live.session.start_time(), MAX_MICROSTEP)
        federate.take_order(Message(Kind.HORIZON, tag=horizon))


def _ignore(_number: int, _frame: object) -> None:
    pass


def check_drivable(program: Program, cut: Cut) -> None:
    """Check that the tags of a cut program can be driven.

    Raises:
        ProgramError: It may have microsteps, so the last tag of a step is not known.
    """
    if cut.flat:
        return
    msg = (
        f"{program.reactors[0].path} cannot be driven in several federates, because it "
        "may have more than one tag at a time"
    )
    remedy = (
        "Give delayed connections a positive delay and actions a minimum delay and "
        "spacing, and use neither modes, physical inputs nor request_stop()."
    )
    raise ProgramError(msg, program.reactors[0].where, remedy)


@dataclass(frozen=True)
class _Kept:
    """Where federates begin again that are lost."""

    main: Reactor
    preload: tuple[tuple[str, object, Duration], ...]
    numbers: Mapping[int, Base]


class DrivenFederation(Session):
    """A driven program in several processes of this machine.

    Args:
        source: What the other processes get.
        program: The whole program.
        federation: The placement.
        cut: The cut that follows from both.
        options: Options of the run, with a start time.
        restarts: How often a federate begins again whose process is gone.
        at_start: Called with a ``Watch`` of all federates before the first tag.
        at_end: Called with the result when the run has ended without an error.

    Raises:
        ProgramError: The program cannot be driven in federates.
    """

    def __init__(
        self,
        source: DrivenSource,
        program: Program,
        federation: Federation,
        cut: Cut,
        options: Options,
        *,
        restarts: int = 0,
        at_start: Callable[[Watch], object] | None = None,
        at_end: Callable[[Result], object] | None = None,
    ) -> None:
        check_drivable(program, cut)
        self._source, self._federation = source, federation
        self._program, self._cut, self._options = program, cut, options
        self._restarts = restarts
        self._numbers: dict[int, Base] = {}
        self._kept: _Kept | None = None
        self._at_begin, self._at_result = at_start, at_end
        self._federates: LocalFederates
        self._member: Member
        self._federate: Federate
        self._results: list[PartialResult] = []
        self._error: BaseException | None = None
        self._waiter = threading.Thread(
            target=self._wait, name="end of the federation", daemon=True
        )
        self._watched: FederationWatch | None = None
        self._open = self._failed = False
        self._result = None

    def _make(self) -> None:
        """Make the sockets and the head. What is made here is closed by ``_end``."""
        source, options = self._source, self._options
        assert options.start_time is not None
        self._federates = LocalFederates(
            source,
            self._program,
            self._federation,
            self._cut,
            options,
            here=frozenset({HEAD}),
            restarts=self._restarts,
        )
        self._federates.restore = self._restored
        try:
            self._member = self._federates.member(HEAD)
            begin = None if self._at_begin is None else self._begin
            self._federate = self._member.make(options.start_time, begin)
            for port, value, sent in source.preload:
                self._federate.live.preload(port, value, nanoseconds(sent))
            super().__init__(self._federate.live, state=source.state)
        except BaseException:
            self._federates.close(0)
            raise

    def _begin(self, _watch: Watch) -> None:
        """Let the caller watch all federates, not only the head."""
        assert self._at_begin is not None
        probes = self._federates.server.probes
        self._watched = FederationWatch(self._program, self._cut, self._options, probes)
        self._at_begin(self._watched)

    def _wait(self) -> None:
        try:
            self._results = self._federates.wait()
        except BaseException as error:
            self._error = error

    def __enter__(self) -> Self:
        """Start the processes, make the reactors and run the first tag."""
        if self._result is not None or self._waiter.ident is not None:
            msg = "the program has ended; call drive() again"
            raise RuntimeError(msg)
        self._make()
        self._open = True
        try:
            self._federates.__enter__()
            self._waiter.start()
            if self._member.join() is None:
                raise ElsewhereError
            self._live.start()
        except BaseException as error:
            self._fail(error)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Run the final tag, one microstep on, unless an exception passes through.

        Afterwards no process is left.

        Raises:
            BusyError: Another thread is in ``step``, or this is called by a reaction
                of the program. The program stays open.
        """
        if not self._open:
            return
        self._live.reserve()
        if error is not None:
            self._end(pack_error(error), error)
            return
        try:
            self._federate.take_order(Message(Kind.HORIZON, tag=BEFORE_ALL))
            self._federates.request_stop()
            self._live.after(self._live.session.run())
            self._live.finished()
            own = partial_result(self._live, whole=True)
        except BaseException as raised:
            self._fail(raised)
        self._end(Finished({"whole": True}, encode(own)))
        if self._error is not None:
            raise self._error
        clocks = self._federates.server.probes.clocks
        self._result = whole_result(
            self.program, self._cut, self._options, self._results, clocks
        )
        if self._at_result is not None:
            self._at_result(self._result)

    def step(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        after: Duration = 0,
        **named: Any,  # noqa: ANN401
    ) -> Outputs:
        """See ``Session``; ``after`` must be positive.

        Raises:
            FederationError: A federate is gone; the text names it.
        """
        self._advance(nanoseconds(after))
        try:
            return super().step(inputs, after=after, **named)
        except BaseException as error:
            self._fail_unless_refused(error)

    def plug(
        self, name: str | None = None, *, after: Duration = 0
    ) -> Callable[..., dict[str, Any]]:
        """See ``Session``; ``after`` must be positive."""
        delay = nanoseconds(after)
        plug = super().plug
        inner: Callable[..., dict[str, Any]] | None = None

        def push(value: Any = None) -> dict[str, Any]:  # noqa: ANN401
            nonlocal inner
            self._advance(delay)
            if inner is None:  # there are no ports before the program runs
                inner = plug(name, after=delay)
            try:
                return inner(value)
            except BaseException as error:
                self._fail_unless_refused(error)

        return push

    @property
    def program(self) -> Program:
        """What is driven."""
        return self._program

    def preload(self, port: str, value: object, *, sent: Duration) -> None:
        """Refused: the other processes get what is in flight when they start.

        Raises:
            RuntimeError: Always.
        """
        msg = (
            "preload must be given to drive() in a federation, which is not one process"
        )
        raise RuntimeError(msg)

    def states(self) -> list[Any]:
        """See ``Session``."""
        mine = super().states()
        tag = Tag(*self._live.session.tag())
        try:
            saved = self._federates.server.save(tag, HEAD)
            found = {each: decode(*saved[each]) for each in sorted(saved)}
            self._numbers = {each: numbers for each, (_, numbers) in found.items()}
            self._numbers[HEAD] = replace(self._federate.numbers(), tag=tag)
            return mine + [state for state, _ in found.values()]
        except BaseException as error:
            self._fail(error)

    @property
    def restarts_left(self) -> int:
        """How often a federate may still begin again."""
        if self._waiter.ident is None or not self._federates.replaces:
            return self._restarts
        return self._federates.server.restarts_left

    def keep(
        self, main: Reactor, preload: Sequence[tuple[str, object, Duration]]
    ) -> None:
        """Let federates that are lost begin again after the last ``states``.

        By default they begin again at the first tag, so all values that were sent since
        are kept. A trace would lack what was before, so nothing changes for traced
        runs, or as long as something that was sent up to that tag has not arrived.

        Args:
            main: Makes the program that continues with these states.
            preload: What is in flight; see ``drive``.
        """
        numbers = self._numbers
        traced = self._options.trace is not False
        arrived = all(
            numbers[to].received[by] == numbers[by].sent[to]
            for to in numbers
            for by in numbers
        )
        if not self._restarts or traced or not arrived:
            return

        def kept() -> None:
            self._kept = _Kept(main, tuple(preload), numbers)

        self._federates.server.keep(numbers[HEAD].tag, HEAD, kept)
        if self._kept is not None and self._kept.numbers is numbers:
            self._member.forget(numbers[HEAD].sent)

    # -- parts ----------------------------------------------------------------------

    def _restored(self, federate: int) -> tuple[DrivenSource, Restored] | None:
        """Return what a federate begins again from; None: it begins at the start."""
        kept = self._kept
        if kept is None:
            return None
        program = elaborate(kept.main)
        cut = cut_program(program, self._federation)
        if replace(cut, program=self._cut.program) != self._cut:
            msg = (
                "restoring a federate failed: the program of its state is cut otherwise"
            )
            raise ProgramError(msg, program.reactors[0].where, "")
        node = program.reactors[0]
        source = DrivenSource(node.cls, node.params, kept.preload, self._source.state)
        restored = Restored(
            replace(kept.numbers[federate], tag=kept.numbers[HEAD].tag),
            run_digest(self._cut, self._options),
            run_digest(cut, self._options),
        )
        return source, restored

    def _advance(self, delay: int) -> None:
        """Let all others run up to the tag of a step."""
        if delay <= 0:
            msg = f"after must be positive in a federation, got {delay}"
            raise ValueError(msg)
        if not self._open:
            msg = "the program is not running; use it inside its with statement"
            if self._failed:
                msg = "the program has ended: an earlier step raised"
            raise RuntimeError(msg)
        now, _ = self._live.session.tag()
        self._federates.server.advance(Tag(now + delay, MAX_MICROSTEP), HEAD)

    def _fail_unless_refused(self, error: BaseException) -> NoReturn:
        """Raise an error of a step; end everything unless the step did not begin.

        It does not begin if another thread is in one, or if an input is refused. The
        others then wait at its tag.
        """
        if not self._failed:
            raise error
        self._fail(error)

    def _fail(self, error: BaseException) -> NoReturn:
        """End everything, and raise the first failure in the order of the program."""
        if not self._open:  # has failed before: there is nothing left to end
            raise error
        elsewhere = isinstance(error, ElsewhereError | RunOverError)
        self._end(NOTHING if elsewhere else pack_error(error), error)
        first = self._error
        if first is None or not isinstance(error, Exception):
            raise error
        ours = type(first) is type(error) and str(first) == str(error)
        if ours and not elsewhere:
            raise error
        raise first from first.__cause__

    def _end(
        self, result: Finished | Failed, cause: BaseException | None = None
    ) -> None:
        """Close everything here, give the others the result, and wait for their end."""
        self._open = False
        self._failed = cause is not None
        try:
            self._live.close(cause)
        except BaseException as error:
            cause = error
            raise
        finally:
            self._member.leave(result, 0 if cause is None else 1)
            if cause is not None and not isinstance(cause, Exception):
                self._federates.close(0)  # Ctrl-C: do not wait
            if self._waiter.ident is not None:
                self._waiter.join()
            if self._watched is not None:
                self._watched.end(self._results)
            self._federates.close()
