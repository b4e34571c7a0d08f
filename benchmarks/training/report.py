# SPDX-License-Identifier: Apache-2.0
"""The outcome for people: facts, times, and what was promised."""

from __future__ import annotations

from benchmarks.runtime.report import Grid, Report, duration
from benchmarks.runtime.results import typical_time


class TrainingReport(Report):
    """Everything there is to say about one run of the benchmarks of training."""

    __slots__ = ()
    title = "Training benchmarks"

    def _times(self) -> Grid:
        rows = []
        for job in self.results.jobs():
            spread = self.results.spread(job, typical_time)
            if spread is not None:
                name, rate = f"{job.workload}, {job.case}", 1 / spread.median
                cells = (duration(spread), f"{rate:,.0f}")
                rows.append((name, job.engine, job.python, *cells))
        columns = ("what", "engine: how, workers", "Python", "a step", "steps/s")
        title = "Time of a step of one environment, learning included"
        return Grid(title, columns, tuple(rows), words=3)
