# SPDX-License-Identifier: Apache-2.0
"""Timers as reactors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.ours import run_program
from benchmarks.workloads.timer_storm import check, periods
from reactorl import Reactor, Timer, bank, msec, param, reaction, shutdown

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


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
    periods: list[int] = param()
    watch: Watch = param()
    counts: dict[int, int] = param()

    metronome = Metronome(watch=watch)
    counters = bank(
        Counter,
        width=width,
        counts=counts,
        each=lambda self, index: {"period": msec(self.periods[index])},
    )


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program."""
    counts: dict[int, int] = {}
    all_periods = periods(params)
    width = len(all_periods)
    main = Main(width=width, periods=all_periods, watch=watch, counts=counts)
    return run_program(main, engine) | check(params, watch, counts)
