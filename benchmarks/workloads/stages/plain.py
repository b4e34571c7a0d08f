# SPDX-License-Identifier: Apache-2.0
"""Stages as a plain loop, and with a pool of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmarks.engines.plain import MultiPort, Port, plain
from benchmarks.workloads.stages.ours import Sink, Source, Stage

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def _parts(params: dict[str, Any], watch: Any) -> tuple[Any, list[Any], Any]:  # noqa: ANN401
    source = plain(Source, number=Port())
    before = source.number
    stages = []
    for _ in range(params["stages"]):
        stages.append(plain(Stage, before=before, after=Port()))
        if params["in_a_row"]:
            before = stages[-1].after
    ends = stages[-1:] if params["in_a_row"] else stages
    numbers = MultiPort(stage.after for stage in ends)
    return source, stages, plain(Sink, watch=watch, numbers=numbers)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the loop."""
    del engine
    source, stages, sink = _parts(params, watch)
    while not sink.stopped:
        source.emit()
        for stage in stages:
            stage.work()
        sink.take()


def futures(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the loop; stages in parallel are tasks of a pool."""
    source, stages, sink = _parts(params, watch)
    with ThreadPoolExecutor(engine.workers) as pool:
        while not sink.stopped:
            source.emit()
            if params["in_a_row"]:
                for stage in stages:
                    pool.submit(stage.work).result()
            else:
                for _ in pool.map(lambda stage: stage.work(), stages):
                    pass
            sink.take()
