# SPDX-License-Identifier: Apache-2.0
"""The long reaction and the chain as reactors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from benchmarks.engines.ours import run_program
from benchmarks.harness.spin import spin
from benchmarks.workloads.lookahead import rows
from reactorl import Input, MultiInput, Output, Reactor, param, reaction, startup

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


class Hub(Reactor):
    """Starts both and waits for both."""

    go = Output[int]()
    done = MultiInput[int]()
    watch: Watch = param()

    def setup(self) -> None:
        self.tick = self.watch.tick
        self.count = 0

    @reaction(startup, effects=[go])
    def begin(self) -> None:
        self.go.set(0)

    @reaction(done, effects=[go])
    def again(self) -> None:
        self.count += 1
        if self.tick(self.done.values()):
            self.go.set(self.count)


class Stage(Reactor):
    """Computes a number that takes ``turns`` turns of a loop."""

    source = Input[int]()
    result = Output[int]()
    turns: int = param()

    def setup(self) -> None:
        self.own_turns = self.turns

    @reaction(source, effects=[result])
    def work(self) -> None:
        self.result.set(spin(self.own_turns, self.source.value))


class Main(Reactor):
    """A hub, and one or both of the long reaction and the chain."""

    rows: tuple[tuple[int, ...], ...] = param()
    watch: Watch = param()

    hub = Hub(watch=watch)

    def build(self) -> None:
        ends = []
        for r, row in enumerate(self.rows):
            stages = [
                self.add(f"stage_{r}_{i}", Stage, turns=turns)
                for i, turns in enumerate(row)
            ]
            self.connect(self.hub.go, stages[0].source, after=0)
            for before, after in pairwise(stages):
                self.connect(before.result, after.source)
            ends.append(stages[-1].result)
        self.connect(ends, self.hub.done)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program."""
    return run_program(Main(rows=rows(params), watch=watch), engine)
