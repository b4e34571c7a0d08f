# SPDX-License-Identifier: Apache-2.0
"""Lookahead: a long reaction beside a chain."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import xronos
from xronos.experimental import InputPort

from benchmarks.runtime.spin import spin

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.lookahead import Lookahead


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
    """Computes a number that takes ``turns`` steps."""

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


def build(environment: xronos.Environment, workload: Lookahead, watch: Watch) -> None:
    """Put the program into ``environment``."""
    hub = environment.create_reactor("hub", Hub, len(workload.rows), watch)
    for r, row in enumerate(workload.rows):
        stages = [
            environment.create_reactor(f"stage_{r}_{i}", Stage, turns)
            for i, turns in enumerate(row)
        ]
        environment.connect(hub.go, stages[0].source, timedelta(0))
        for before, after in pairwise(stages):
            environment.connect(before.result, after.source)
        environment.connect(stages[-1].result, hub.done[r])
