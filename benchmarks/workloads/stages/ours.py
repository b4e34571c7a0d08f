# SPDX-License-Identifier: Apache-2.0
"""Source, stages and sink as reactors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.ours import run_program
from reactorl import Input, MultiInput, Output, Reactor, Timer, msec, param, reaction

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


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


class Stage(Reactor):
    """Adds one."""

    before = Input[int]()
    after = Output[int]()

    @reaction(before, effects=[after])
    def work(self) -> None:
        self.after.set(self.before.value + 1)


class Sink(Reactor):
    """Adds up the values and ends the program."""

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


class Main(Reactor):
    """A source, stages in a row or in parallel, a sink."""

    stages: int = param()
    in_a_row: bool = param()
    watch: Watch = param()

    source = Source()
    sink = Sink(watch=watch)

    def build(self) -> None:
        if not self.in_a_row:
            stages = self.add_bank("stage", Stage, width=self.stages)
            self.connect(self.source.number, stages.before, broadcast=True)
            self.connect(stages.after, self.sink.numbers)
            return
        end = self.source.number
        for index in range(self.stages):
            stage = self.add(f"stage{index}", Stage)
            self.connect(end, stage.before)
            end = stage.after
        self.connect(end, self.sink.numbers)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program."""
    main = Main(stages=params["stages"], in_a_row=params["in_a_row"], watch=watch)
    return run_program(main, engine)
