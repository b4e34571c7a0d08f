# SPDX-License-Identifier: Apache-2.0
"""A program that runs: the core's session, the reactors, and an orderly end."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from reactorl import _core
from reactorl._decl.reaction import is_native
from reactorl._runtime.access import mismatches, refusals
from reactorl._runtime.busy import busy
from reactorl._runtime.checking import Checker
from reactorl._runtime.context import RunContext
from reactorl._runtime.federated import ElsewhereError, make_gate_plan
from reactorl._runtime.hiding import hidden_view
from reactorl._runtime.instances import (
    explain_missing,
    instantiate,
    restore_reset_state,
)
from reactorl._runtime.plan import make_plan, set_native
from reactorl._runtime.recording import (
    AnnouncingTape,
    PlainTape,
    Recording,
    RecordingTape,
    ReplayingTape,
    Tape,
)
from reactorl._runtime.result import ReactionTime, Result
from reactorl._runtime.timing import make_timing
from reactorl._runtime.tracing import make_trace, physical_names
from reactorl._runtime.views import Views
from reactorl._runtime.watch import Watch
from reactorl._runtime.watchdogs import Watchdogs
from reactorl._util.gc_pause import gc_paused
from reactorl._util.machine import has_gil
from reactorl.errors import (
    AccessError,
    DeclarationError,
    ReactionError,
    ReactorlError,
    ReplayError,
    UnknownNameError,
)
from reactorl.tag import Tag
from reactorl.trace.value_text import value_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl._decl.native import NativeState
    from reactorl._decl.reactor import Reactor
    from reactorl._program.program import Program, ReactionNode, WatchdogNode
    from reactorl._runtime.federated import Federated
    from reactorl._runtime.options import Options
    from reactorl.trace import Timing


class Live:
    """One run of a program, from the making of its reactors to their teardown."""

    def __init__(
        self,
        program: Program,
        options: Options,
        *,
        record: Recording | None = None,
        replay: Recording | None = None,
        at_start: Callable[[Watch], object] | None = None,
        federated: Federated | None = None,
    ) -> None:
        self.program = program
        self.options = options
        self._federated = federated
        self._part = None if federated is None else federated.part
        with gc_paused():
            self.planned = make_plan(program, options.workers, self._part)
        self._record = record
        self._at_start = at_start
        self._watch: Watch | None = None
        self._failure: tuple[str, BaseException] | None = None
        self._lock = threading.Lock()
        self._began = 0.0
        self._instances: list[Reactor] = []
        self._native_states: list[NativeState] = []
        self.session = _core.Session(
            self.planned.plan,
            fast=options.fast,
            keepalive=options.keepalive,
            trace=options.trace is not False,
            trace_values=options.trace == "values",
            replay=replay is not None,
            one_at_a_time=has_gil(),
            timeout=options.timeout,
            start=options.start_time,
            shuffle=options.shuffle,
            stay_home=options.stay_home,
            timing=options.timing,
        )
        if federated is not None:
            part, port = federated.part, federated.port
            gate = make_gate_plan(program, part.cut, self.planned, part.federate)
            self.session.federate(gate, port.say, port.wait)
        self._set_layouts()
        tape = self._tape(record, replay)
        announce: Callable[[], object] | None = None
        if replay is None and federated is not None and federated.physical is not None:
            tape = AnnouncingTape(tape, federated.physical)
            announce = tape.announce
        self._watchdogs = Watchdogs(
            program, self.session, record, replay, self._watchdog_failed, announce
        )
        self._context = RunContext(program, self.session, tape, options.seed, federated)
        self._refuse = refusals(program)
        plain = isinstance(tape, PlainTape)
        self._tape_read = tape.read_clock
        self.session.set_hooks(
            refuse=self._refuse,
            mismatch=mismatches(program, self.planned),
            clock=None if plain else self._read_clock,
            late=None if plain else tape.late,
            deliver=None if plain else tape.deliver,
            describe=(
                partial(value_text, deep=True) if options.trace == "values" else None
            ),
            freeze_arrays=options.freeze,
        )

    # -- from beginning to end ------------------------------------------------------

    def start(self) -> str:
        """Make the reactors and run the first tag; returns the core's status."""
        with gc_paused():
            views = Views(
                self.program, self.planned, self.session, self._context, self._watchdogs
            )
        # Kept even if a setup() fails half way, so that all get their teardown().
        instantiate(
            self.program, views, self._instances, self._part, self._native_states
        )
        self._context.instances = self._instances
        checker = (
            Checker(self.program, self.planned, self.session)
            if self.options.check
            else None
        )
        with gc_paused():
            for node in self.program.reactions:
                if self._runs(node.reactor):
                    self._add_body(node, checker)
                else:
                    self.session.add_body(None, None, None, node.reactor, node.index)
        self._watchdogs.begin(self._instances)
        if self._at_start is not None:
            self._watch = Watch(self.program, self.options, self.session)
            self._at_start(self._watch)
        self._began = time.perf_counter()
        return self.after(self.session.start())

    def after(self, status: str) -> str:
        """Raise what ended the run, if something did; else return ``status``.

        In a federation, a run also fails because another federate did.
        """
        if self._federated is not None and (broken := self.session.broken()):
            msg = f"a message of another federate cannot be: {broken}"
            raise ReactorlError(msg, None, "This is a defect; please report it.")
        if self._failure is not None:
            name, error = self._failure
            raise ReactionError(
                name, self.now(), self.program.reactors[0].where, _brief(error)
            ) from error
        if status in ("failed", "broken off"):
            self._raise_failure()
        return status

    def now(self) -> Tag:
        """Return the current tag, elapsed."""
        moment, step = self.session.tag()
        return Tag(moment - self.session.start_time(), step)

    @property
    def main(self) -> Reactor:
        """The main reactor, after ``start``; it has parameters in every federate."""
        return self._instances[0]

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since the first tag began."""
        return time.perf_counter() - self._began

    @property
    def recording(self) -> Recording | None:
        """Where physical inputs go to."""
        return self._record

    def result(self) -> Result:
        """Return how the run went. Call before ``close``."""
        session, program, planned = self.session, self.program, self.planned
        tags, events, shared = session.counts()
        costs = [session.cost(r.id) for r in program.reactions]
        make: Callable[[], Any] | None = None
        if self.options.trace is not False:
            make = partial(
                make_trace,
                program,
                planned,
                session.trace_bytes(),
                session.trace_values(),
            )
        timing: Callable[[], Timing] | None = None
        if self.options.timing:
            timing = partial(
                make_timing, program, session.timing(), fast=self.options.fast
            )

        def times() -> list[ReactionTime]:
            return [
                ReactionTime(program.reaction_name(i), runs, total / timed / 1e9)
                for i, (runs, timed, total) in enumerate(costs)
                if timed
            ]

        return Result(
            program=program,
            options=self.options,
            final_tag=self.now(),
            start_time=session.start_time(),
            tags=tags,
            events=events,
            reactions=sum(runs for runs, _, _ in costs),
            seconds=self.seconds,
            shared_tags=shared,
            recording=self._record,
            _times=times,
            _trace=make,
            _timing=timing,
        )

    def finished(self) -> None:
        """Record that the final tag was reached; raise if a port was hidden."""
        if self._record is not None:
            self._record.end = self.now()
        for node, instance in zip(self.program.reactors, self._instances, strict=True):
            hidden = hidden_view(instance) if self._runs(node.id) else ""
            if hidden:
                raise self._hiding(node.path, instance, hidden)

    def reserve(self) -> None:
        """Keep other threads out of the session until it is closed.

        Raises:
            BusyError: Tags are running, on this thread or another.
        """
        try:
            self.session.reserve()
        except _core.SessionBusyError as error:
            raise busy(error) from None

    def close(self, cause: BaseException | None = None) -> None:
        """End threads, tear reactors down (children first), give everything up.

        Every teardown() is called; the first exception of these is raised at the end.

        Args:
            cause: The exception that ended the run. It is more important than those
                of teardown(), which are often its consequence: it gets a note instead.

        Raises:
            BusyError: Tags are running, on this thread or another. Nothing is closed.
        """
        self.reserve()
        first: BaseException | None = None
        try:
            self._watchdogs.end()
        finally:
            for instance in reversed(self._instances):
                if not self._runs(instance._node.id):
                    continue
                try:
                    type(instance).teardown(instance)
                except BaseException as error:
                    if cause is not None and isinstance(error, Exception):
                        path = instance._node.path
                        cause.add_note(f"teardown() of {path} raised {_brief(error)}")
                    else:
                        first = first or error
            for state in reversed(self._native_states):
                state._end()
            self._settle_recording()
            if self._watch is not None:
                self._watch._end()
            self.session.close()
            self._context.instances = []
            self._instances = []
        if first is not None:
            raise first

    # -- parts ----------------------------------------------------------------------

    def _runs(self, reactor: int) -> bool:
        """Return whether a reactor runs here: in a federation, not all do."""
        return self._part is None or self._part.runs(reactor)

    def _delivers(self, trigger: int) -> bool:
        """Return whether the events of a physical trigger are delivered here."""
        if self._part is None:
            return True
        if trigger >= self.planned.first_stage:
            arrives = self._part.cut.stage_at[trigger - self.planned.first_stage]
            return self._part.federate in arrives
        action = self.program.actions[trigger - self.planned.first_action]
        return self._part.runs(action.reactor)

    def _tape(self, record: Recording | None, replay: Recording | None) -> Tape:
        program = self.program
        if replay is not None:
            self._preload(replay)
            return ReplayingTape(replay, program.reaction_name, self.now)
        if record is not None:
            record.program = program.digest
            record.seed = self.options.seed
            names = physical_names(program, self.planned)
            by_trigger = {trigger: name for name, trigger in names.items()}
            return RecordingTape(
                record, by_trigger.__getitem__, program.reaction_name, self.now
            )
        return PlainTape()

    def preload(self, port: str, value: object, sent: int) -> None:
        """Put a value into flight on all delayed connections of a port.

        In a federation only on those that end here.

        Args:
            port: Full name of an output.
            value: The value.
            sent: When it was set, in nanoseconds since the start.

        Raises:
            UnknownNameError: No delayed connection starts at a port of this name.
        """
        first, program, found = self.planned.first_stage, self.program, False
        for number, stage in enumerate(self.planned.stages):
            if program.channel_name(stage.source) != port:
                continue
            found = True
            if self._delivers(first + number):
                arrival = sent + (stage.delay or 0)
                self.session.preload(first + number, arrival, 0, value)
        if not found:
            names = {program.channel_name(s.source) for s in self.planned.stages}
            what = "the set of delayed connections"
            where = program.reactors[0].where
            raise UnknownNameError(port, what, tuple(sorted(names)), where)

    def _preload(self, replay: Recording) -> None:
        if replay.program and replay.program != self.program.digest:
            msg = "the recording is of another program"
            raise ReplayError(
                msg,
                None,
                "Replay it into the program it was recorded from.",
            )
        known = physical_names(self.program, self.planned)
        for tag, name, value in replay.events:
            if name not in known:
                msg = f"the recording has events of {name}, which the program lacks"
                raise ReplayError(
                    msg,
                    None,
                    "Replay it into the program it was recorded from.",
                )
            if self._delivers(known[name]):
                self.session.preload(known[name], tag.time, tag.microstep, value)
        if replay.end is not None:
            self.session.stop_at(replay.end.time, replay.end.microstep)

    def _add_body(self, node: ReactionNode, checker: Checker | None) -> None:
        instance = self._instances[node.reactor]
        native = is_native(node.body), is_native(node.handler)
        if any(native):
            state = self._native_state(node, instance)
            set_native(self.session, self.program, self.planned, node, state)
        body, subject = instance.__bind_body__(None if native[0] else node.body)
        handler, _ = instance.__bind_body__(None if native[1] else node.handler)
        if node.kind == "reset_state":
            body = partial(_restore, node.reset_states)
        if body is not None:
            body = self._watchdogs.guarded(node.reactor, body)
            if checker is not None:
                body = checker.watched(node, body)
        if handler is not None:
            handler = self._watchdogs.guarded(node.reactor, handler)
        self.session.add_body(body, handler, subject, node.reactor, node.index)

    def _native_state(self, node: ReactionNode, instance: Reactor) -> int:
        """Return the address of the native state of a reaction, or 0."""
        state = getattr(node.body, "state", None) or getattr(
            node.handler, "state", None
        )
        if state is None:
            return 0
        found = instance.__dict__.get(state.name)
        if found not in self._native_states:
            msg = (
                f"{instance._node.path}.{state.name} must be the native state that was "
                f"made for it, got {found!r}"
            )
            remedy = "Native bodies use its memory: do not assign to it in setup()."
            raise DeclarationError(msg, state.where, remedy)
        address: int = found.address
        return address

    def _set_layouts(self) -> None:
        layouts = self.planned.layouts
        if len(layouts) > 1:
            self.session.set_layouts(
                [
                    None if d is None else (d.unpack, d.pack, d.value_class)
                    for d in layouts
                ]
            )

    def _read_clock(self, reaction: int, now: int) -> int:
        """Return the clock as the native body of ``reaction`` shall read it."""
        start = self.session.start_time()
        return start + self._tape_read(reaction, now - start)

    def _settle_recording(self) -> None:
        """Put the notes of parallel workers into their fixed order."""
        if self._record is not None:
            self._record.missed.sort()
            self._record.clock = dict(sorted(self._record.clock.items()))

    # -- failures -------------------------------------------------------------------

    def _watchdog_failed(self, node: WatchdogNode, error: BaseException) -> None:
        with self._lock:
            if self._failure is None:
                self._failure = (self.program.element_name(node), error)
        self.session.request_stop()

    def _raise_failure(self) -> NoReturn:
        reaction, error, native = self.session.failure()
        if native is not None:
            code, message = native
            text = f"the native body failed with code {code}"
            raise ReactionError(
                self.program.reaction_name(reaction),
                self.now(),
                self.program.reactions[reaction].where,
                f"{text}: {message}" if message else text,
            )
        if error is None and self._federated is not None:
            raise ElsewhereError
        if error is None:
            msg = "the core ended the run without a reason; please report this"
            raise RuntimeError(msg)
        if reaction < 0 or not isinstance(error, Exception):
            raise error  # Ctrl-C, or exit() in a body
        node = self.program.reactions[reaction]
        if isinstance(error, ReactorlError):
            error.add_note(
                f"in reaction {self.program.reaction_name(reaction)} at elapsed tag "
                f"{self.now()}"
            )
            raise error
        if isinstance(error, AttributeError):
            missing = explain_missing(error, node, self.program)
            if missing is not None:
                raise missing from error
            instance = self._instances[node.reactor]
            hidden = hidden_view(instance)
            if hidden:
                raise self._hiding(instance._node.path, instance, hidden) from error
        raise ReactionError(
            self.program.reaction_name(reaction), self.now(), node.where, _brief(error)
        ) from error

    def _hiding(self, path: str, instance: Reactor, name: str) -> AccessError:
        decl = type(instance).__reactor__.elements[name]
        return AccessError(
            f"of {path}",
            f"{path}.{name}",
            decl.where,
            "assigns to",
            f"to send a value write self.{name}.set(value); state needs another name",
        )


def _restore(names: tuple[str, ...], instance: Reactor) -> None:
    restore_reset_state(instance, names)


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
