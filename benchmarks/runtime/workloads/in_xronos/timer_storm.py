# SPDX-License-Identifier: Apache-2.0
"""Timer storm: periodic timers made at run time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import xronos
from xronos.experimental import PeriodicTimer

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.timer_storm import TimerStorm


class Counter(xronos.Reactor):
    """Counts how often its timer fires."""

    def __init__(self, index: int, period: int, counts: dict[int, int]) -> None:
        super().__init__()
        self.timer = PeriodicTimer("timer", self, timedelta(milliseconds=period))
        self.index = index
        self.counts = counts
        self.count = 0

    @xronos.reaction
    def fire(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.timer)

        def handler() -> None:
            self.count += 1

        return handler

    @xronos.reaction
    def report(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.shutdown)

        def handler() -> None:
            self.counts[self.index] = self.count

        return handler


class Metronome(xronos.Reactor):
    """Counts the milliseconds and ends the program."""

    timer = xronos.PeriodicTimerDeclaration(period=timedelta(milliseconds=1))

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.tick = watch.tick

    @xronos.reaction
    def fire(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.timer)
        end = context.add_effect(self.shutdown)

        def handler() -> None:
            if not self.tick():
                end.trigger_shutdown()

        return handler


def build(environment: xronos.Environment, workload: TimerStorm, watch: Watch) -> None:
    """Put the program into ``environment``."""
    environment.create_reactor("metronome", Metronome, watch)
    for index, period in enumerate(workload.periods):
        environment.create_reactor(
            f"counter{index}", Counter, index, period, workload.counts
        )
