# SPDX-License-Identifier: Apache-2.0
"""Lookahead: a long reaction beside an independent chain of short ones, in one tag.

The chain's reactions are at deeper levels than the long one. With a barrier after each
level they would wait for it; by their dependencies they need not.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.runtime.engines.plain import MultiPort, Plain, Port, bodies
from benchmarks.runtime.spin import spin
from benchmarks.runtime.workloads.workload import Workload
from reactorl import (
    Input,
    MultiInput,
    Output,
    Reactor,
    param,
    reaction,
    startup,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.runtime.watch import Watch

LONG_US = 5_000
SHORT_US = 250
LENGTH = 20


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
    """Computes a number that takes ``turns`` steps."""

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


class PlainHub(Plain):
    """A hub without a runtime."""

    setup, begin, again = bodies(Hub.setup, Hub.begin, Hub.again)

    def __init__(self, watch: Watch, done: list[Port]) -> None:
        self.watch = watch
        self.go = Port()
        self.done = MultiPort(done)
        self.setup()


class PlainStage(Plain):
    """A stage without a runtime."""

    setup, work = bodies(Stage.setup, Stage.work)

    def __init__(self, turns: int, source: Port) -> None:
        self.turns = turns
        self.source = source
        self.result = Port()
        self.setup()


class Row:
    """The long reaction or the chain, without a runtime."""

    def __init__(self, turns: Sequence[int]) -> None:
        self.source = source = Port()
        self.stages = []
        for each in turns:
            self.stages.append(PlainStage(each, source))
            source = self.stages[-1].result
        self.result = source
        self.count = 0

    def work(self, value: int) -> None:
        self.source.set(value)
        for stage in self.stages:
            stage.work()

    def round(self) -> None:
        self.work(self.count)
        self.count += 1

    def seen(self) -> list[object]:
        return [self.result.value]


class Lookahead(Workload):
    """The workload, with the long reaction, the chain, or both."""

    name = "lookahead"
    compared_rounds = 10

    def __init__(self, case: str, loops_per_us: float) -> None:
        long = (round(LONG_US * loops_per_us),)
        relay = 0  # puts the chain below the long reaction's level
        chain = (relay, *[round(SHORT_US * loops_per_us)] * LENGTH)
        self.rows = {"long": (long,), "chain": (chain,), "both": (long, chain)}[case]

    def ours(self, watch: Watch) -> Reactor:
        return Main(rows=self.rows, watch=watch)

    def plain(self, watch: Watch) -> None:
        rows = [Row(turns) for turns in self.rows]
        hub = PlainHub(watch, [row.result for row in rows])
        hub.begin()
        while hub.go.is_present:
            hub.go.is_present = False
            for row in rows:
                row.work(hub.go.value)
            hub.again()

    def futures(self, watch: Watch, pool: ThreadPoolExecutor) -> None:
        rows = [Row(turns) for turns in self.rows]
        hub = PlainHub(watch, [row.result for row in rows])
        hub.begin()
        while hub.go.is_present:
            hub.go.is_present = False
            tasks = [pool.submit(row.work, hub.go.value) for row in rows]
            for task in tasks:
                task.result()
            hub.again()

    def share(self, part: int, parts: int) -> Row:
        if parts != len(self.rows):
            msg = f"{len(self.rows)} rows for {parts} threads"
            raise ValueError(msg)
        return Row(self.rows[part])


def make(case: str, loops_per_us: float) -> Lookahead:
    """Return the workload for ``long``, ``chain`` or ``both``."""
    return Lookahead(case, loops_per_us)
