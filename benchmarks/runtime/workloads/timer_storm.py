# SPDX-License-Identifier: Apache-2.0
"""Timer storm: many timers of different periods, often several at one tag."""

from __future__ import annotations

import math
from heapq import heapreplace
from typing import TYPE_CHECKING, Any

from benchmarks.runtime.engines.plain import Plain, bodies
from benchmarks.runtime.watch import Watch, digest
from benchmarks.runtime.workloads.workload import Workload
from reactorl import Reactor, Timer, bank, msec, param, reaction, shutdown

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

PERIODS = (1, 2, 3, 4, 5, 6)
"""In milliseconds."""


class Counter(Reactor):
    """Counts how often its timer fires."""

    period: int = param(msec(1))
    timer = Timer(0, period)
    counts: dict[int, int] = param()

    def setup(self) -> None:
        self.count = 0

    @reaction(timer)
    def fire(self) -> None:
        self.count += 1

    @reaction(shutdown)
    def report(self) -> None:
        self.counts[self.bank_index] = self.count


class Metronome(Reactor):
    """Counts the milliseconds and ends the program."""

    timer = Timer(0, msec(1))
    watch: Watch = param()

    def setup(self) -> None:
        self.tick = self.watch.tick

    @reaction(timer)
    def fire(self) -> None:
        if not self.tick():
            self.request_stop()


class Main(Reactor):
    """Counters and a metronome."""

    width: int = param()
    watch: Watch = param()
    counts: dict[int, int] = param()

    metronome = Metronome(watch=watch)
    counters = bank(
        Counter,
        width=width,
        counts=counts,
        each=lambda _, index: {"period": msec(period_of(index))},
    )


class PlainCounter(Plain):
    """A counter without a runtime."""

    setup, fire, report = bodies(Counter.setup, Counter.fire, Counter.report)

    def __init__(self, index: int, counts: dict[int, int]) -> None:
        self.bank_index = index
        self.counts = counts
        self.setup()


class PlainMetronome(Plain):
    """A metronome without a runtime."""

    setup, fire = bodies(Metronome.setup, Metronome.fire)

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.setup()


class TimerStorm(Workload):
    """The workload, with ``width`` counters."""

    name = "timer_storm"
    unit = "event"
    quantum = math.lcm(*PERIODS)
    compared_rounds = 2 * quantum

    def __init__(self, width: int) -> None:
        self.width = width
        self.periods = [period_of(index) for index in range(width)]
        self.units_per_round = 1 + sum(1 / period for period in self.periods)
        self.counts: dict[int, int] = {}

    def ours(self, watch: Watch) -> Reactor:
        return Main(width=self.width, watch=watch, counts=self.counts)

    def plain(self, watch: Watch) -> None:
        metronome, counters = self._without_runtime(watch)
        fires = [metronome.fire, *(counter.fire for counter in counters)]
        periods = [1, *self.periods]
        agenda = [(0, index) for index in range(len(fires))]
        now = 0
        while not metronome.stopped or agenda[0][0] == now:
            now, index = agenda[0]
            heapreplace(agenda, (now + periods[index], index))
            fires[index]()
        for counter in counters:
            counter.report()

    def futures(self, watch: Watch, pool: ThreadPoolExecutor) -> None:
        metronome, counters = self._without_runtime(watch)
        fires = [metronome.fire, *(counter.fire for counter in counters)]
        periods = [1, *self.periods]
        agenda = [(0, index) for index in range(len(fires))]
        while not metronome.stopped:
            now = agenda[0][0]
            tasks = []
            while agenda[0][0] == now:
                index = agenda[0][1]
                heapreplace(agenda, (now + periods[index], index))
                tasks.append(pool.submit(fires[index]))
            for task in tasks:
                task.result()
        for counter in counters:
            counter.report()

    def _without_runtime(
        self, watch: Watch
    ) -> tuple[PlainMetronome, list[PlainCounter]]:
        counters = [PlainCounter(index, self.counts) for index in range(self.width)]
        return PlainMetronome(watch), counters

    def finish(self, watch: Watch) -> dict[str, Any]:
        """Compare how often each timer fired with how often it should have."""
        wrong = {
            index: self.counts.get(index)
            for index, period in enumerate(self.periods)
            if self.counts.get(index) != (watch.count - 1) // period + 1
        }
        watch.digest = digest(wrong)
        return {"wrong_counts": wrong}


def period_of(index: int) -> int:
    """Return the period of a counter, in milliseconds."""
    return PERIODS[index % len(PERIODS)]


def make(case: str, loops_per_us: float) -> TimerStorm:
    """Return a storm of ``case`` timers."""
    del loops_per_us
    return TimerStorm(int(case))
