# SPDX-License-Identifier: Apache-2.0
"""Source, stages and sink in Xronos."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos
from xronos.experimental import InputPort

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


class Source(xronos.Reactor):
    """Emits a number every millisecond."""

    number = xronos.OutputPortDeclaration[int]()
    timer = xronos.PeriodicTimerDeclaration(period=timedelta(milliseconds=1))

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @xronos.reaction
    def emit(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.timer)
        number = context.add_effect(self.number)

        def handler() -> None:
            self.count += 1
            number.set(self.count)

        return handler


class Stage(xronos.Reactor):
    """Adds one."""

    before = xronos.InputPortDeclaration[int]()
    after = xronos.OutputPortDeclaration[int]()

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        before = context.add_trigger(self.before)
        after = context.add_effect(self.after)
        return lambda: after.set(before.get() + 1)


class Sink(xronos.Reactor):
    """Adds up the values and ends the program."""

    def __init__(self, width: int, watch: Watch) -> None:
        super().__init__()
        self.tick = watch.tick
        self.total = 0
        self.numbers = [InputPort[int](f"number{i}", self) for i in range(width)]

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Callable[[], None]:
        numbers = [context.add_trigger(port) for port in self.numbers]
        end = context.add_effect(self.shutdown)

        def handler() -> None:
            self.total += sum([number.get() for number in numbers])
            if not self.tick(self.total):
                end.trigger_shutdown()

        return handler


def run(params: dict[str, Any], watch: Watch, engine: Engine) -> None:
    """Run the program in fast mode."""
    del engine
    environment = xronos.Environment(fast=True)
    count, in_a_row = params["stages"], params["in_a_row"]
    source = environment.create_reactor("source", Source)
    sink = environment.create_reactor("sink", Sink, 1 if in_a_row else count, watch)
    end = source.number
    for index in range(count):
        stage = environment.create_reactor(f"stage{index}", Stage)
        environment.connect(end, stage.before)
        if in_a_row:
            end = stage.after
        else:
            environment.connect(stage.after, sink.numbers[index])
    if in_a_row:
        environment.connect(end, sink.numbers[0])
    environment.execute()
