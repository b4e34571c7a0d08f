# SPDX-License-Identifier: Apache-2.0
"""Programs that are driven over several processes; these import this module."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np

from reactorl import (
    Input,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    Timer,
    param,
    reaction,
    shutdown,
)

PERIOD = 10


class Clock(Reactor):
    count = Output[int]()
    offset: int = param(PERIOD)
    tick = Timer(offset, PERIOD)

    @reaction(tick, effects=[count])
    def begin(self) -> None:
        self.count.set(self.elapsed // PERIOD)


class Worker(Reactor):
    """Adds what it hears to a sum; odd ones say nothing at every third tag."""

    count = Input[int]()
    told = Input[Any]()
    out = Output[Any]()
    kind = param("plain")
    start: int = param(0)
    bank_index: int = param(0)

    def setup(self) -> None:
        self.sum = self.start
        self.last = 0.0

    @reaction(told)
    def hear(self) -> None:
        self.last = float(self.told.value.sum())

    @reaction(count, effects=[out])
    def work(self) -> None:
        count = self.count.value
        self.sum += count
        if self.bank_index and count == 3:
            self.misbehave()
        if self.bank_index % 2 and count % 3 == 0:
            return
        noise = self.np_random.normal(size=4)
        self.out.set(noise + self.sum + self.last)

    def misbehave(self) -> None:
        if self.kind == "raises":
            msg = f"on purpose, {self.bank_index}"
            raise ValueError(msg)
        if self.kind == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "exits":
            os._exit(7)

    @reaction(shutdown, effects=[out])
    def end(self) -> None:
        self.out.set(np.zeros(1))


class Judge(Reactor):
    x = MultiInput[Any]()
    told = Output[Any]()
    total = Output[float]()
    kind = param("plain")

    def setup(self) -> None:
        self.seen = 0

    @reaction(x, effects=[told, total])
    def judge(self) -> None:
        found = sum(float(value.sum()) for value in self.x.values())
        self.seen += 1
        if self.kind == "judge raises" and self.seen == 3:
            msg = "no verdict"
            raise ValueError(msg)
        self.told.set(np.full(3, found))
        self.total.set(found)


class Driven(Reactor):
    """Workers, a judge, and results of each step."""

    shown = MultiOutput[Any](lambda self: self.width)
    total = Output[float]()
    width = param(4)
    behind = param(0)
    kind = param("plain")
    first = param(1)

    def build(self) -> None:
        clock = self.add("clock", Clock, offset=self.first * PERIOD)
        workers = self.add_bank("worker", Worker(kind=self.kind), width=self.width)
        judge = self.add("judge", Judge, kind=self.kind)
        after = PERIOD if self.behind else None
        late = max(self.behind, 1) * PERIOD
        self.connect(clock.count, workers.count, broadcast=True)
        self.connect(workers.out, judge.x, after=after)
        self.connect(judge.told, workers.told, after=late, broadcast=True)
        self.connect(workers.out, self.shown)
        self.connect(judge.total, self.total)


class Microsteps(Reactor):
    """Has several tags at a time, so it cannot be driven in federates."""

    def build(self) -> None:
        clock = self.add("clock", Clock)
        worker = self.add("worker", Worker)
        self.connect(clock.count, worker.count, after=0)


class Doubler(Reactor):
    x = Input[int]()
    y = Output[int]()

    def build(self) -> None:
        inner = self.add("inner", Inner)
        self.connect(self.x, inner.x)
        self.connect(inner.y, self.y)


class Inner(Reactor):
    x = Input[int]()
    y = Output[int]()

    @reaction(x, effects=[y])
    def double(self) -> None:
        self.y.set(2 * self.x.value)


def main_facts(main: Any) -> tuple[int, int]:
    """Return the process, and a parameter of the main reactor."""
    return os.getpid(), main.width


def unsendable(main: Any) -> Any:
    """Return what cannot be pickled."""
    return (each for each in range(main.width))
