# SPDX-License-Identifier: Apache-2.0
"""The outcome for people: facts, times, and what was promised."""

from __future__ import annotations

from benchmarks.runtime.report import Grid, Report, duration
from benchmarks.runtime.results import typical_time


class LfReport(Report):
    """Everything there is to say about one run of the benchmarks of the front end."""

    __slots__ = ()
    title = "LF front end benchmarks"

    def _times(self) -> Grid:
        rows = []
        for job in self.results.jobs():
            spread = self.results.spread(job, typical_time)
            if spread is not None:
                name = f"{job.workload} {job.case}"
                rows.append((name, job.engine, job.python, duration(spread)))
        columns = ("what", "with", "Python", "time")
        title = "Time: median, and how far the sets spread"
        return Grid(title, columns, tuple(rows), words=3)
