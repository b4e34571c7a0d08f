# SPDX-License-Identifier: Apache-2.0
"""A wire that is simulated: all federates in one process, with seeded latencies.

Messages of one link keep their order, those of different links do not. In a serial
simulation the next message is delivered only when nobody can do anything: with one
worker each, the whole run is a function of the seed. Otherwise messages are delivered
while federates run.
"""

from __future__ import annotations

import heapq
import os
import pickle
import threading
import time
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING, Any

from reactorl._federation.coordinator import Coordinator
from reactorl._federation.federate import Federate
from reactorl._federation.merge import merged_recording, merged_trace
from reactorl._federation.messages import NEVER_ENDS, Kind, Message, Report
from reactorl._runtime.options import make_options
from reactorl._runtime.recording import Recording
from reactorl.tag import Tag
from tests.federation.deliveries import Counts, DeadlockError, Delivery, Life

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import Program
    from reactorl._program.cut import Cut
    from reactorl.trace import Trace

COORDINATOR = -1
PATIENCE = float(os.environ.get("REACTORL_PATIENCE", "60"))  # seconds; only ends hangs
LATENCIES = (0, 0, 1, 5, 50)


class SimulatedWire:
    """The ways of one life of a federate; see ``_federation.federate.Wire``."""

    def __init__(self, simulation: Simulation, index: int, life: int) -> None:
        self._simulation = simulation
        self._index = index
        self._life = life

    def send(self, peer: int, message: Message) -> None:
        copied = pickle.loads(pickle.dumps(message.value))
        message = message._replace(value=copied)
        self._simulation.post(self._index, self._life, peer, message)

    def tell(self, message: Message) -> None:
        self._simulation.post(self._index, self._life, COORDINATOR, message)

    def flush(self) -> None:
        pass

    def report(self, report: Report) -> None:
        self._simulation.waits(self._index, self._life, report)

    def physical(self) -> None:
        """Physical inputs of a simulation are replayed."""

    def request_stop(self) -> None:
        self._simulation.stop_from_outside()


class Simulation:
    """One run of a program in parts."""

    def __init__(
        self,
        program: Program,
        cut: Cut,
        *,
        seed: int,
        run_seed: int = 0,
        serial: bool = True,
        workers: int = 1,
        kills: int = 0,
        window: int | None = None,
        recording: Recording | None = None,
        record: bool = False,
        latencies: Sequence[int] = LATENCIES,
        **options: Any,
    ) -> None:
        self.program = program
        self.cut = cut
        self.counts = Counts()
        self.log: list[str] = []
        self._random = Random(seed)
        self._serial = serial
        self._kills = kills
        self._recording = recording
        self._record = record
        self._latencies = latencies
        defaults: dict[str, Any] = {
            "timeout": None,
            "keepalive": None,
            "seed": run_seed,
            "start_time": None,
            "trace": True,
            "check": False,
            "freeze": None,
            "shuffle": 0,
            "stay_home": False,
            "fast": True,
        }
        given = {**defaults, **options}
        if not given["fast"] and given["start_time"] is None:
            given["start_time"] = time.time_ns()
        self._options = make_options(program, workers=workers, **given)
        self.coordinator = Coordinator(
            cut, keepalive=self._options.keepalive, window=window
        )
        self._changed = threading.Condition()  # guards everything below
        self._heap: list[Delivery] = []
        self._now = 0
        self._order = 0
        self._latest: dict[tuple[int, int], int] = {}
        self.lives: list[Life] = []
        self._stopping = False
        self._stop_after = -1

    # -- called by federates' threads ----

    def post(self, source: int, life: int, target: int, what: Message | Report) -> None:
        """Put something on its way."""
        with self._changed:
            other = self.lives[target].number if target >= 0 else 0
            if source >= 0 and self.lives[source].number != life:
                return  # a life that has ended says nothing
            self._post(source, target, (life, other), what)
            self._changed.notify_all()

    def _post(
        self,
        source: int,
        target: int,
        lives: tuple[int, int],
        what: Message | Report,
    ) -> None:
        arrival = self._now + self._random.choice(self._latencies)
        arrival = max(arrival, self._latest.get((source, target), 0))
        self._latest[source, target] = arrival
        self._order += 1
        heapq.heappush(
            self._heap, Delivery(arrival, self._order, source, target, lives, what)
        )

    def waits(self, index: int, number: int, report: Report) -> None:
        """Note that a federate can do nothing; tell the coordinator if that is new."""
        with self._changed:
            life = self.lives[index]
            if life.number != number:
                return
            life.taken = report.taken
            # Who is done with the final tag waits for nothing: its thread ends now.
            life.waiting = not (report.inside and report.next == NEVER_ENDS)
            silent = without_counts(report)
            if silent != life.report:
                life.report = silent
                self._post(index, COORDINATOR, (number, 0), silent)
            self._changed.notify_all()

    def stop_from_outside(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def stop_after(self, deliveries: int) -> None:
        """Ask for the end of the program when so many messages were delivered."""
        self._stop_after = deliveries

    def federate(self, index: int) -> Federate:
        """Return a federate that is not run."""
        return self._new_life(index, 0).federate

    # -- the simulation ----

    def run(self) -> Trace:
        """Run the program; return the merged trace.

        Raises:
            DeadlockError: All wait and nothing is on its way.
        """
        try:
            for index in range(len(self.cut.names)):
                self.lives.append(self._new_life(index, 0))
            for target, order in self.coordinator.begin(Tag(0, 0)):
                self._deliver(COORDINATOR, target, order)
            for life in self.lives:
                self._begin(life)
                if self._serial:
                    self._settle()
            self._loop()
        except BaseException:
            self._abort()
            raise
        finally:
            for life in self.lives:
                if life.thread is not None:
                    life.thread.join(PATIENCE)
        failed = self.coordinator.failed
        if failed is not None and (error := self.lives[failed].error) is not None:
            raise error
        for life in self.lives:
            if life.error is not None:
                raise life.error
        return self.trace()

    def trace(self) -> Trace:
        traces = [life.federate.trace for life in self.lives]
        whole = all(life.whole for life in self.lives)
        return merged_trace(
            self.program,
            self.cut,
            [trace for trace in traces if trace is not None],
            finished=whole,
        )

    def recorded(self) -> Recording:
        """Return the physical inputs of all federates, if the run recorded them."""
        parts = [life.record for life in self.lives if life.record is not None]
        return merged_recording(parts)

    def _new_life(self, index: int, number: int) -> Life:
        record = Recording() if self._record else None
        federate = Federate(
            self.program,
            self.cut,
            index,
            self._options,
            SimulatedWire(self, index, number),
            replay=self._recording,
            record=record,
            keeps=self._kills > 0,
        )
        return Life(federate, number, record=record)

    def _begin(self, life: Life) -> None:
        def work() -> None:
            try:
                life.whole = life.federate.run()
            except BaseException as error:
                life.error = error
            finally:
                with self._changed:
                    life.ended = True
                    self._changed.notify_all()

        life.thread = threading.Thread(target=work, name="federate", daemon=True)
        life.thread.start()

    def _is_quiet(self, life: Life) -> bool:
        return life.ended or (life.waiting and life.taken >= life.put)

    def _settle(self) -> None:
        """Wait until no federate that was begun can do anything."""
        begun = [life for life in self.lives if life.thread is not None]
        with self._changed:
            if not self._changed.wait_for(
                lambda: all(map(self._is_quiet, begun)), PATIENCE
            ):
                msg = f"somebody is busy forever: {self._state()}"
                raise DeadlockError(msg)

    def _loop(self) -> None:
        while True:
            if self._serial:
                self._settle()
            self._fail_early()
            with self._changed:
                if self._stopping:
                    self._stopping = False
                    orders = self.coordinator.request_stop()
                    for target, order in orders:
                        self._post(COORDINATOR, target, (0, self._life(target)), order)
                if not self._heap:
                    if all(life.ended for life in self.lives):
                        return
                    if self.advance():
                        continue
                    # With several workers, one may still be about to find work.
                    exact = self._serial and self._options.workers == 1
                    if not exact and self._changed.wait(PATIENCE):
                        continue
                    msg = f"all wait: {self._state()}"
                    raise DeadlockError(msg)
                kill = self._kills > 0 and self._random.random() < 0.02
                if not kill:
                    self._stop_after -= 1
                    self._stopping = self._stopping or self._stop_after == 0
                    delivery = heapq.heappop(self._heap)
                    self._now = max(self._now, delivery.time)
            if kill:
                self._kill_one()
            else:
                self._arrive(delivery)

    def advance(self) -> bool:
        """Continue a driven program, if this is one. The lock is held."""
        return False

    def _life(self, federate: int) -> int:
        return self.lives[federate].number if federate >= 0 else 0

    def _fail_early(self) -> None:
        for life in self.lives:
            if life.error is not None and self.coordinator.failure is None:
                raise life.error

    def _state(self) -> str:
        lines = [
            f"{index}: taken {life.taken} of {life.put}, ended {life.ended}, "
            f"{life.report}"
            for index, life in enumerate(self.lives)
        ]
        return "\n".join(["", *lines, *self.log[-20:]])

    def _arrive(self, delivery: Delivery) -> None:
        source, target = delivery.source, delivery.target
        with self._changed:
            expected = (self._life(source), self._life(target))
        if delivery.lives != expected:
            return  # of a connection that is gone
        if target >= 0:
            assert isinstance(delivery.what, Message)
            self._deliver(source, target, delivery.what)
            return
        if isinstance(delivery.what, Report):
            self.counts.reports += 1
            orders = self.coordinator.on_report(source, delivery.what)
        else:
            orders = self.coordinator.on_message(source, delivery.what)
        with self._changed:
            for to, order in orders:
                self._post(COORDINATOR, to, (0, self._life(to)), order)

    def _deliver(self, source: int, target: int, message: Message) -> None:
        self.log.append(f"{self._now} {source} -> {target}: {message}")
        self._count(message)
        life = self.lives[target]
        with self._changed:
            life.put += 1
        if source == COORDINATOR:
            life.federate.take_order(message)
            return
        if message.number and message.number <= life.federate._received[source]:
            self.counts.again += 1
        if not life.federate.take(source, message):
            with self._changed:
                life.put -= 1

    def _count(self, message: Message) -> None:
        if message.number:
            self.counts.values += 1
        elif message.kind is Kind.PROMISE:
            self.counts.promises += 1
        elif message.kind is Kind.DEMAND:
            self.counts.demands += 1
        elif message.kind is Kind.FLOOR:
            self.counts.floors += 1

    # -- kills ----

    def _kill_one(self) -> None:
        """End a federate and begin it again from the start; peers say all again."""
        with ExitStack() as locks:
            for life in self.lives:  # in the order in which federates take them
                locks.enter_context(life.federate.silence())
            locks.enter_context(self._changed)
            self._kill_with_locks()

    def _kill_with_locks(self) -> None:
        index = self._random.randrange(len(self.lives))
        old = self.lives[index]
        if old.ended:
            return
        self._kills -= 1
        self.counts.kills += 1
        new = self._new_life(index, old.number + 1)
        self.lives[index] = new
        old.federate.take_order(Message(Kind.FAILURE, tag=Tag(0, 0), key=0))
        lives = (self._life(COORDINATOR), new.number)
        for target, order in self.coordinator.forget(index):
            self._post(COORDINATOR, target, lives, order)
        for peer, life in enumerate(self.lives):
            if peer == index:
                continue
            for message in life.federate.say_again(index, 0):
                self._post(peer, index, (life.number, new.number), message)
        self._begin(new)

    def _abort(self) -> None:
        """Let all federates end."""
        failure = Message(Kind.FAILURE, tag=Tag(0, 0), key=0)
        for life in self.lives:
            if life.thread is not None and not life.ended:
                life.federate.take_order(failure)


def without_counts(report: Report) -> Report:
    """Return a report without what only the simulation wants to know."""
    return report._replace(taken=0)
