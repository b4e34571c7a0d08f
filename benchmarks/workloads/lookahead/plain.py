# SPDX-License-Identifier: Apache-2.0
"""The long reaction and the chain as a plain loop, and with a pool of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmarks.engines.plain import MultiPort, Port, plain
from benchmarks.workloads.lookahead import rows
from benchmarks.workloads.lookahead.ours import Hub, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.engine import Engine


class Row:
    """The long reaction or the chain, without a runtime."""

    def __init__(self, turns: Sequence[int]) -> None:
        self.source = source = Port()
        self.stages = []
        for each in turns:
            self.stages.append(plain(Stage, turns=each, source=source, result=Port()))
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


def _hub(params: dict[str, Any], watch: Any) -> tuple[Any, list[Row]]:  # noqa: ANN401
    made = [Row(turns) for turns in rows(params)]
    done = MultiPort(row.result for row in made)
    return plain(Hub, watch=watch, go=Port(), done=done), made


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the loop."""
    del engine
    hub, made = _hub(params, watch)
    hub.begin()
    while hub.go.is_present:
        hub.go.is_present = False
        for row in made:
            row.work(hub.go.value)
        hub.again()


def futures(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the loop; the rows are tasks of a pool."""
    hub, made = _hub(params, watch)
    with ThreadPoolExecutor(engine.workers) as pool:
        hub.begin()
        while hub.go.is_present:
            hub.go.is_present = False
            tasks = [pool.submit(row.work, hub.go.value) for row in made]
            for task in tasks:
                task.result()
            hub.again()
