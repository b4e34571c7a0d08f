# SPDX-License-Identifier: Apache-2.0
"""Measuring the cases of a workload: one process for each engine, in turns.

The method is that of ``benchmarks.runtime.measure``: processes of all engines live side
by side, a slice of one is followed by a slice of the next, and a small piece of work on
each core before and after tells whether somebody else disturbed it. What is added:
every engine has its own interpreter, and its process does one case after another.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.evidence.environments import EvidenceChild
from benchmarks.runtime.job import Failure, Measurement
from benchmarks.runtime.measure import ChildError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.evidence.environments import Place
    from benchmarks.evidence.plan import Turn
    from benchmarks.runtime.job import Job
    from benchmarks.runtime.measure import Feelers


class EnvShard:
    """The processes of the engines that take turns."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._children: dict[str, EvidenceChild] = {}

    def start(self, engines: Sequence[str]) -> dict[str, str]:
        """Start processes, all at once; returns why some did not start."""
        failures: dict[str, str] = {}
        absent = [engine for engine in engines if engine not in self._children]
        for engine in absent:
            python = self._places[engine].python
            self._children[engine] = EvidenceChild(python, "measure", engine=engine)
        for engine in absent:
            try:
                self._children[engine].hear()
            except ChildError as error:
                failures[engine] = str(error)
                self.drop(engine)
        return failures

    def __getitem__(self, engine: str) -> EvidenceChild:
        return self._children[engine]

    def __contains__(self, engine: str) -> bool:
        return engine in self._children

    def drop(self, engine: str) -> None:
        """Let go of a process that failed."""
        self._children.pop(engine).end()

    def end(self) -> None:
        """Let all processes clean up and end."""
        for child in self._children.values():
            child.tell("")
        for child in self._children.values():
            try:
                child.hear()
            except ChildError:
                pass  # it ends now in any case
            finally:
                child.end()
        self._children.clear()

    def kill(self) -> None:
        """End all processes at once."""
        for engine in list(self._children):
            self.drop(engine)


class Case:
    """One case, measured with the processes of a company."""

    def __init__(self, turn: Turn, company: EnvShard, feelers: Feelers) -> None:
        self._turn = turn
        self._company = company
        self._feelers = feelers
        pace = turn.workload.pace_of(turn.case, turn.effort)
        self._slices = pace.slices
        self._found: dict[Job, list[dict[str, float]]] = {}
        self._calm: dict[Job, list[bool]] = {}
        self.measurements: list[Measurement] = []
        self.failures: list[Failure] = []

    def run(self) -> None:
        """Measure it."""
        for party in self._turn.parties():
            for job in party:
                self._begin(job)
            for _ in range(self._slices):
                for job in party:
                    self._slice(job)
            for job in party:
                self._end(job)

    def _begin(self, job: Job) -> None:
        self._found[job], self._calm[job] = [], []
        if job.engine not in self._company:
            failures = self._company.start([job.engine])
            if job.engine in failures:
                self._fail(job, failures[job.engine])
                return
        self._ask(job, json.dumps(self._turn.request()))

    def _slice(self, job: Job) -> None:
        if job not in self._found:
            return
        calm = self._feelers.wait_for_calm()
        found = self._ask(job, "go")
        if found is not None:
            self._found[job].append(found)
            self._calm[job].append(self._feelers.calm() and calm)

    def _end(self, job: Job) -> None:
        if job not in self._found:
            return
        found = self._ask(job, "stop")
        if found is not None:
            slices = self._found[job]
            measurement = Measurement(
                job=job,
                repeat=self._turn.number,
                seconds=tuple(each["seconds"] for each in slices),
                cpu=tuple(each["cpu"] for each in slices),
                calm=tuple(self._calm[job]),
                **found,
            )
            self.measurements.append(measurement)

    def _ask(self, job: Job, words: str) -> Any:  # noqa: ANN401
        child = self._company[job.engine]
        try:
            child.tell(words)
            return child.hear()
        except ChildError as error:
            self._company.drop(job.engine)
            self._fail(job, str(error))
            return None

    def _fail(self, job: Job, reason: str) -> None:
        del self._found[job]
        self.failures.append(Failure(job, self._turn.number, reason))
