# SPDX-License-Identifier: Apache-2.0
"""Watchdogs: alarms on the physical clock, outside the order of tags.

A handler runs on the watchdogs' own thread as soon as it expires, while no
reaction of the same reactor runs. Its effect depends only on between which reactions of
its reactor it ran; a recording stores that, and a replay runs the handler there.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from reactorl.tag import Duration, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl import _core
    from reactorl._decl.reactor import Reactor
    from reactorl._program.program import Program, WatchdogNode
    from reactorl._runtime.recording import Recording


class WatchdogView:
    """A watchdog as the reactions of its reactor see it."""

    __slots__ = ("_number", "_owner")

    def __init__(self, owner: Watchdogs, number: int) -> None:
        self._owner = owner
        self._number = number

    def start(self, extra: Duration = 0) -> None:
        """Expire at the current logical time plus timeout plus ``extra``."""
        self._owner.start(self._number, nanoseconds(extra))

    def stop(self) -> None:
        """Do not expire."""
        self._owner.stop(self._number)


class Watchdogs:
    """All watchdogs of one run, with one thread for them."""

    def __init__(
        self,
        program: Program,
        session: _core.Session,
        record: Recording | None,
        replay: Recording | None,
        fail: Callable[[WatchdogNode, BaseException], None],
        announce: Callable[[], object] | None = None,
    ) -> None:
        self._program = program
        self._session = session
        self._record = record
        self._replaying = replay is not None
        self._fail = fail
        self._announce = announce
        self._changed = threading.Condition()
        self._due: dict[int, int] = {}  # watchdog -> physical time; guarded
        self._ending = False  # guarded
        self._thread: threading.Thread | None = None
        self._instances: list[Reactor] = []
        self._turns: dict[int, _Turn] = {
            node.reactor: _Turn() for node in program.watchdogs
        }
        if replay is not None:
            for node in program.watchdogs:
                for position in replay.alarms.get(program.element_name(node), ()):
                    self._turns[node.reactor].replay.setdefault(position, []).append(
                        node
                    )

    def view(self, node: WatchdogNode) -> WatchdogView:
        """Return the object that bodies use."""
        return WatchdogView(self, node.id)

    def begin(self, instances: list[Reactor]) -> None:
        """Start watching."""
        self._instances = instances
        if self._program.watchdogs and not self._replaying:
            self._thread = threading.Thread(
                target=self._watch, name="reactorl-watchdogs", daemon=True
            )
            self._thread.start()

    def end(self) -> None:
        """Stop watching; returns when no handler runs any more."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def guarded(
        self, reactor: int, body: Callable[[Any], object]
    ) -> Callable[[Any], object]:
        """Return ``body`` such that it never overlaps with a handler of its reactor."""
        turn = self._turns.get(reactor)
        return body if turn is None else partial(self._run_guarded, turn, body)

    def start(self, number: int, extra: int) -> None:
        """Make watchdog ``number`` expire; a second start moves the expiry."""
        if self._announce is not None:
            self._announce()  # a repetition would be late
        due = self._session.tag()[0] + self._program.watchdogs[number].timeout + extra
        with self._changed:
            self._due[number] = due
            self._changed.notify()

    def stop(self, number: int) -> None:
        """Make watchdog ``number`` not expire."""
        with self._changed:
            self._due.pop(number, None)

    def _run_guarded(
        self, turn: _Turn, body: Callable[[Any], object], instance: Reactor
    ) -> None:
        with turn.lock:
            try:
                body(instance)
            finally:
                turn.reactions += 1
            for node in turn.replay.get(turn.reactions, ()):
                try:
                    node.handler(instance)
                except KeyboardInterrupt:
                    raise  # Ctrl-C: unlike in a live run, this may be the main thread
                except BaseException as error:
                    # As in the run that was recorded: the reaction did not fail.
                    self._fail(node, error)

    def _watch(self) -> None:
        while True:
            with self._changed:
                if self._ending:
                    return
                due = min(self._due.items(), key=lambda item: item[::-1], default=None)
                if due is None:
                    self._changed.wait()
                    continue
                number, time = due
                wait = time - self._session.physical_time()
                if wait > 0:
                    self._changed.wait(min(wait / 1e9, threading.TIMEOUT_MAX))
                    continue
            self._expire(self._program.watchdogs[number], time)

    def _expire(self, node: WatchdogNode, time: int) -> None:
        turn = self._turns[node.reactor]
        with turn.lock:
            with self._changed:
                # A reaction may have moved or stopped it while the lock was awaited.
                if self._due.get(node.id) != time or self._ending:
                    return
                del self._due[node.id]
            if self._record is not None:
                name = self._program.element_name(node)
                self._record.alarms.setdefault(name, []).append(turn.reactions)
            try:
                node.handler(self._instances[node.reactor])
            except BaseException as error:
                self._fail(node, error)


class _Turn:
    """Mutual exclusion of the reactions and the handlers of one reactor."""

    __slots__ = ("lock", "reactions", "replay")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reactions = 0  # how many have run
        self.replay: dict[int, list[WatchdogNode]] = {}
