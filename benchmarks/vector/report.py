# SPDX-License-Identifier: Apache-2.0
"""The outcome for people: facts, times, and what was promised."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.runtime.job import PYTHONS, Job
from benchmarks.runtime.report import Grid, Report, duration
from benchmarks.runtime.results import typical_time
from benchmarks.vector.engines import SYNC


class VectorReport(Report):
    """Everything there is to say about one run of the benchmarks of vectors."""

    __slots__ = ()
    title = "Vector environment benchmarks"

    def _times(self) -> Grid:
        rows = []
        named = dict.fromkeys((j.workload, j.case) for j in self.results.jobs())
        for workload, case in named:
            title = f"{workload} x {case}, a step of all"
            for engine in self._engines(workload, case):
                jobs = [Job(workload, case, engine, p) for p in PYTHONS]
                cells = [cell for job in jobs for cell in self._time_cells(job)]
                rows.append((title, engine, *cells, self._computed(jobs)))
                title = ""
        columns = [c for p in self.interpreters for c in (p, "speed / sync", "where")]
        return Grid(
            "Time: median, how far the sets spread, and speed over SyncVectorEnv",
            ("workload", "engine", *columns, "computed"),
            tuple(rows),
            words=2,
        )

    def _time_cells(self, job: Job) -> tuple[str, ...]:
        if job.python not in self.interpreters:
            return ()
        spread = self.results.spread(job, typical_time)
        ratio = self.results.ratio(replace(job, engine=SYNC), job)
        where = {m.more["placement"] for m in self.results.of(job).values()}
        return (
            "" if spread is None else duration(spread),
            "" if ratio is None else f"{ratio.median:.2f}x",
            " ".join(sorted(where)),
        )
