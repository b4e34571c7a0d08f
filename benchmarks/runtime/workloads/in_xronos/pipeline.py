# SPDX-License-Identifier: Apache-2.0
"""Pipeline: stages in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runtime.workloads.in_xronos.source import Sink, Source, Stage

if TYPE_CHECKING:
    import xronos

    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.pipeline import Pipeline


def build(environment: xronos.Environment, workload: Pipeline, watch: Watch) -> None:
    """Put the program into ``environment``."""
    source = environment.create_reactor("source", Source)
    sink = environment.create_reactor("sink", Sink, 1, watch)
    end = source.number
    for index in range(workload.length):
        stage = environment.create_reactor(f"stage{index}", Stage)
        environment.connect(end, stage.before)
        end = stage.after
    environment.connect(end, sink.numbers[0])
