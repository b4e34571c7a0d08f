# SPDX-License-Identifier: Apache-2.0
"""Fan: a number fans out to stages side by side and in again, all in one tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runtime.workloads.source import PlainSink, PlainSource, Sink, Source
from benchmarks.runtime.workloads.stage import PlainStage, Stage
from benchmarks.runtime.workloads.workload import Workload
from reactorl import Reactor, bank, param

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.runtime.watch import Watch


class Main(Reactor):
    """A source, stages side by side, a sink."""

    width: int = param()
    watch: Watch = param()

    source = Source()
    stages = bank(Stage, width=width)
    sink = Sink(watch=watch)

    def build(self) -> None:
        self.connect(self.source.number, self.stages.before, broadcast=True)
        self.connect(self.stages.after, self.sink.numbers)


class Fan(Workload):
    """The workload, with ``width`` stages."""

    name = "fan"
    compared_rounds = 500

    def __init__(self, width: int) -> None:
        self.width = width

    def ours(self, watch: Watch) -> Reactor:
        return Main(width=self.width, watch=watch)

    def plain(self, watch: Watch) -> None:
        source, stages, sink = self._without_runtime(watch)
        while not sink.stopped:
            source.emit()
            for stage in stages:
                stage.work()
            sink.take()

    def futures(self, watch: Watch, pool: ThreadPoolExecutor) -> None:
        source, stages, sink = self._without_runtime(watch)
        while not sink.stopped:
            source.emit()
            for _ in pool.map(PlainStage.work, stages):
                pass
            sink.take()

    def _without_runtime(
        self, watch: Watch
    ) -> tuple[PlainSource, list[PlainStage], PlainSink]:
        source = PlainSource()
        stages = [PlainStage(source.number) for _ in range(self.width)]
        return source, stages, PlainSink(watch, [stage.after for stage in stages])


def make(case: str, loops_per_us: float) -> Fan:
    """Return a fan of ``case`` stages."""
    del loops_per_us
    return Fan(int(case))
