# SPDX-License-Identifier: Apache-2.0
"""What the vector environment promises, and the jobs that tell whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.runtime.claims import Check
from benchmarks.runtime.job import Job
from benchmarks.runtime.plan import Group
from benchmarks.vector.engines import (
    ASYNC,
    DEFAULT,
    PROCESSES_2,
    SYNC,
    THREADS_1,
    THREADS_2,
)
from benchmarks.vector.workloads import BUSY, CARTPOLE, PONG

if TYPE_CHECKING:
    from benchmarks.runtime.job import Python
    from benchmarks.runtime.results import Results

COUNTS = {CARTPOLE: "15", BUSY: "16", PONG: "15"}
ENGINES = (SYNC, THREADS_1, THREADS_2, PROCESSES_2, DEFAULT)


def _group(
    workload: str, engines: tuple[str, ...], slices: int, seconds: float
) -> Group:
    jobs = tuple((COUNTS[workload], engine) for engine in engines)
    return Group(workload, jobs, repeats=6, slices=slices, seconds=seconds)


GROUPS = (
    _group(CARTPOLE, (*ENGINES, ASYNC), slices=30, seconds=0.02),
    _group(BUSY, ENGINES, slices=12, seconds=0.05),
    _group(PONG, ENGINES, slices=12, seconds=0.1),
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One engine is at least so many times as fast as another."""

    workload: str
    python: Python
    engine: str
    over: str
    bound: float

    def check(self, results: Results) -> Check:
        """Return what was measured of it."""
        case = COUNTS[self.workload]
        ours, other = (
            Job(self.workload, case, engine, self.python)
            for engine in (self.engine, self.over)
        )
        text = f"{self.workload} x {case}: speed of {self.engine} over {self.over}"
        measured = results.ratio(other, ours)
        return Check(text, self.python, measured, self.bound, at_most=False)


CLAIMS = (
    Claim(CARTPOLE, "ft", THREADS_2, SYNC, 1.4),
    Claim(CARTPOLE, "ft", THREADS_2, ASYNC, 15),
    Claim(CARTPOLE, "ft", THREADS_1, SYNC, 0.95),
    Claim(CARTPOLE, "gil", THREADS_1, SYNC, 0.95),
    Claim(CARTPOLE, "gil", DEFAULT, SYNC, 0.95),
    Claim(BUSY, "ft", THREADS_2, SYNC, 1.7),
    Claim(BUSY, "gil", PROCESSES_2, SYNC, 1.65),
    Claim(PONG, "ft", THREADS_2, SYNC, 1.65),
    Claim(PONG, "gil", DEFAULT, SYNC, 1.55),
)


def checks(results: Results, pythons: tuple[Python, ...]) -> list[Check]:
    """Return all promises that concern these Pythons."""
    return [claim.check(results) for claim in CLAIMS if claim.python in pythons]
