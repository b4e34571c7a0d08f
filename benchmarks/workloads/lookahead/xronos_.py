# SPDX-License-Identifier: Apache-2.0
"""The long reaction and the chain in Xronos."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import xronos
from xronos.experimental import InputPort

from benchmarks.harness.spin import spin
from benchmarks.workloads.lookahead import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


class Hub(xronos.Reactor):
    """Starts both and waits for both."""

    go = xronos.OutputPortDeclaration[int]()

    def __init__(self, width: int, watch: Watch) -> None:
        super().__init__()
        self.tick = watch.tick
        self.count = 0
        self.done = [InputPort[int](f"done{i}", self) for i in range(width)]

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.startup)
        go = context.add_effect(self.go)
        return lambda: go.set(0)

    @xronos.reaction
    def again(self, context: xronos.ReactionContext) -> Callable[[], None]:
        done = [context.add_trigger(port) for port in self.done]
        go = context.add_effect(self.go)

        def handler() -> None:
            self.count += 1
            if self.tick([each.get() for each in done]):
                go.set(self.count)

        return handler


class Stage(xronos.Reactor):
    """Computes a number that takes ``turns`` turns of a loop."""

    source = xronos.InputPortDeclaration[int]()
    result = xronos.OutputPortDeclaration[int]()

    def __init__(self, turns: int) -> None:
        super().__init__()
        self.turns = turns

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        source = context.add_trigger(self.source)
        result = context.add_effect(self.result)
        return lambda: result.set(spin(self.turns, source.get()))


def run(params: dict[str, Any], watch: Watch, engine: Engine) -> None:
    """Run the program in fast mode."""
    del engine
    environment = xronos.Environment(fast=True)
    all_rows = rows(params)
    hub = environment.create_reactor("hub", Hub, len(all_rows), watch)
    for r, row in enumerate(all_rows):
        stages = [
            environment.create_reactor(f"stage_{r}_{i}", Stage, turns)
            for i, turns in enumerate(row)
        ]
        environment.connect(hub.go, stages[0].source, timedelta(0))
        for before, after in pairwise(stages):
            environment.connect(before.result, after.source)
        environment.connect(stages[-1].result, hub.done[r])
    environment.execute()
