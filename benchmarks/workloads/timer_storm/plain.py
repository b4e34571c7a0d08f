# SPDX-License-Identifier: Apache-2.0
"""Timers as a loop over a heap of events, and with a pool of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from heapq import heapreplace
from typing import TYPE_CHECKING, Any

from benchmarks.engines.plain import plain
from benchmarks.workloads.timer_storm import check, periods
from benchmarks.workloads.timer_storm.ours import Counter, Metronome

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Storm:
    """Timers without a runtime, and the heap of their next events."""

    def __init__(self, params: dict[str, Any], watch: Any) -> None:  # noqa: ANN401
        self.counts: dict[int, int] = {}
        self.periods = [1, *periods(params)]
        self.metronome = plain(Metronome, watch=watch)
        self.counters = [
            plain(Counter, bank_index=index, counts=self.counts)
            for index in range(params["timers"])
        ]
        self.fires = [each.fire for each in (self.metronome, *self.counters)]
        self.agenda = [(0, index) for index in range(len(self.fires))]

    def report(self) -> dict[int, int]:
        """Return how often each timer fired."""
        for counter in self.counters:
            counter.report()
        return self.counts


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the loop."""
    del engine
    storm = Storm(params, watch)
    metronome, agenda = storm.metronome, storm.agenda
    fires, all_periods = storm.fires, storm.periods
    now = 0
    while not metronome.stopped or agenda[0][0] == now:
        now, index = agenda[0]
        heapreplace(agenda, (now + all_periods[index], index))
        fires[index]()
    return check(params, watch, storm.report())


def futures(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the loop; timers of one tag are tasks of a pool."""
    storm = Storm(params, watch)
    agenda = storm.agenda
    with ThreadPoolExecutor(engine.workers) as pool:
        while not storm.metronome.stopped:
            now = agenda[0][0]
            tasks = []
            while agenda[0][0] == now:
                index = agenda[0][1]
                heapreplace(agenda, (now + storm.periods[index], index))
                tasks.append(pool.submit(storm.fires[index]))
            for task in tasks:
                task.result()
    return check(params, watch, storm.report())
