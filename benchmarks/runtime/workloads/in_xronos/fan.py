# SPDX-License-Identifier: Apache-2.0
"""Fan: stages side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runtime.workloads.in_xronos.source import Sink, Source, Stage

if TYPE_CHECKING:
    import xronos

    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.fan import Fan


def build(environment: xronos.Environment, workload: Fan, watch: Watch) -> None:
    """Put the program into ``environment``."""
    source = environment.create_reactor("source", Source)
    sink = environment.create_reactor("sink", Sink, workload.width, watch)
    for index, port in enumerate(sink.numbers):
        stage = environment.create_reactor(f"stage{index}", Stage)
        environment.connect(source.number, stage.before)
        environment.connect(stage.after, port)
