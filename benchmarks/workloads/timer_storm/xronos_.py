# SPDX-License-Identifier: Apache-2.0
"""Timers in Xronos, made at run time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos
from xronos.experimental import PeriodicTimer

from benchmarks.workloads.timer_storm import check, periods

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


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


def run(params: dict[str, Any], watch: Watch, engine: Engine) -> dict[str, Any]:
    """Run the program in fast mode."""
    del engine
    counts: dict[int, int] = {}
    environment = xronos.Environment(fast=True)
    environment.create_reactor("metronome", Metronome, watch)
    for index, period in enumerate(periods(params)):
        environment.create_reactor(f"counter{index}", Counter, index, period, counts)
    environment.execute()
    return check(params, watch, counts)
