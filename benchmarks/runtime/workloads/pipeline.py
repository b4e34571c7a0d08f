# SPDX-License-Identifier: Apache-2.0
"""Pipeline: a number passes through all stages, one after the other, in each tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runtime.workloads.source import PlainSink, PlainSource, Sink, Source
from benchmarks.runtime.workloads.stage import PlainStage, Stage
from benchmarks.runtime.workloads.workload import Workload
from reactorl import Reactor, param

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.runtime.watch import Watch


class Main(Reactor):
    """A source, stages in a row, a sink."""

    length: int = param()
    watch: Watch = param()

    source = Source()
    sink = Sink(watch=watch)

    def build(self) -> None:
        end = self.source.number
        for index in range(self.length):
            stage = self.add(f"stage{index}", Stage)
            self.connect(end, stage.before)
            end = stage.after
        self.connect(end, self.sink.numbers)


class Pipeline(Workload):
    """The workload, with ``length`` stages."""

    name = "pipeline"
    compared_rounds = 500

    def __init__(self, length: int) -> None:
        self.length = length

    def ours(self, watch: Watch) -> Reactor:
        return Main(length=self.length, watch=watch)

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
            for stage in stages:
                pool.submit(stage.work).result()
            sink.take()

    def _without_runtime(
        self, watch: Watch
    ) -> tuple[PlainSource, list[PlainStage], PlainSink]:
        source = PlainSource()
        end = source.number
        stages = []
        for _ in range(self.length):
            stages.append(PlainStage(end))
            end = stages[-1].after
        return source, stages, PlainSink(watch, [end])


def make(case: str, loops_per_us: float) -> Pipeline:
    """Return a pipeline of ``case`` stages."""
    del loops_per_us
    return Pipeline(int(case))
