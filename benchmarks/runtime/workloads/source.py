# SPDX-License-Identifier: Apache-2.0
"""Source and sink: a number at every tick of a timer, and where the numbers end up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runtime.engines.plain import MultiPort, Plain, Port, bodies
from reactorl import MultiInput, Output, Reactor, Timer, msec, param, reaction

if TYPE_CHECKING:
    from benchmarks.runtime.watch import Watch


class Source(Reactor):
    """Emits a number every millisecond."""

    number = Output[int]()
    timer = Timer(0, msec(1))

    def setup(self) -> None:
        self.count = 0

    @reaction(timer, effects=[number])
    def emit(self) -> None:
        self.count += 1
        self.number.set(self.count)


class Sink(Reactor):
    """Adds up what arrives and ends the program."""

    numbers = MultiInput[int]()
    watch: Watch = param()

    def setup(self) -> None:
        self.tick = self.watch.tick
        self.total = 0

    @reaction(numbers)
    def take(self) -> None:
        self.total += sum(self.numbers.values())
        if not self.tick(self.total):
            self.request_stop()


class PlainSource(Plain):
    """A source without a runtime."""

    setup, emit = bodies(Source.setup, Source.emit)

    def __init__(self) -> None:
        self.number = Port()
        self.setup()


class PlainSink(Plain):
    """A sink without a runtime."""

    setup, take = bodies(Sink.setup, Sink.take)

    def __init__(self, watch: Watch, numbers: list[Port]) -> None:
        self.watch = watch
        self.numbers = MultiPort(numbers)
        self.setup()
