# SPDX-License-Identifier: Apache-2.0
"""Measuring in turns: a process for each engine; one works, the others wait.

A slice of one engine is followed by a slice of the next, milliseconds later, so that
disturbances of the machine hit neighbours alike. Before and after every slice the calm
probes run. A turn waits a while for calm; a slice that was disturbed nevertheless is
marked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.harness.measurement import Failure, Measurement
from benchmarks.harness.process import Child, ChildError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.harness.calm import CalmProbes
    from benchmarks.harness.environments import Place
    from benchmarks.harness.measurement import Job
    from benchmarks.harness.plan import CaseSet


class Processes:
    """The processes of engines that take turns, by name: an engine, or a job's own."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._children: dict[str, Child] = {}

    def start(self, names: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Start processes, all at once; return why some did not start.

        Args:
            names: Name and engine of each.
        """
        failures: dict[str, str] = {}
        absent = {name: engine for name, engine in names if name not in self._children}
        for name, engine in absent.items():
            python = self._places[engine].python
            self._children[name] = Child(python, "measure", engine=engine)
        for name in absent:
            try:
                self._children[name].receive()
            except ChildError as error:
                failures[name] = str(error)
                self.drop(name)
        return failures

    def __getitem__(self, name: str) -> Child:
        return self._children[name]

    def __contains__(self, name: str) -> bool:
        return name in self._children

    def drop(self, name: str) -> None:
        """Kill one process."""
        self._children.pop(name).kill()

    def end(self) -> None:
        """Let all processes clean up and end."""
        for child in self._children.values():
            child.send("")
        for child in self._children.values():
            try:
                child.receive()
            except ChildError:
                pass  # it ends in any case
            finally:
                child.kill()
        self._children.clear()

    def kill(self) -> None:
        """End all processes at once."""
        for name in list(self._children):
            self.drop(name)


class Turns:
    """The engines of one case, or of cases that are compared, in one set."""

    def __init__(
        self,
        case_set: CaseSet,
        processes: Processes,
        probes: CalmProbes,
        turns_per_us: Mapping[str, float],
    ) -> None:
        self._set = case_set
        self._processes = processes
        self._probes = probes
        self._turns_per_us = turns_per_us
        self._slices: dict[Job, list[dict[str, float]]] = {}
        self._calm: dict[Job, list[bool]] = {}
        self.measurements: list[Measurement] = []
        self.failures: list[Failure] = []

    @property
    def results(self) -> list[Measurement | Failure]:
        """What was measured, and what failed."""
        return [*self.measurements, *self.failures]

    def run(self) -> None:
        """Measure."""
        for jobs in self._set.fitting_into_memory():
            for job in jobs:
                self._begin(job)
            for number in range(max(map(self._set.slices, jobs))):
                for job in jobs:
                    if job in self._slices and number < self._set.slices(job):
                        self._slice(job)
            for job in jobs:
                if job in self._slices:
                    self._end(job)

    def _begin(self, job: Job) -> None:
        self._slices[job], self._calm[job] = [], []
        name = self._set.process_of(job)
        if name not in self._processes:
            failures = self._processes.start([(name, job.engine)])
            if name in failures:
                self._fail(job, failures[name])
                return
        request = self._set.request(job)
        request["params"]["turns_per_us"] = self._turns_per_us.get(job.python, 0.0)
        self._ask(job, json.dumps(request))

    def _slice(self, job: Job) -> None:
        calm = self._probes.wait_for_calm()
        times = self._ask(job, "go")
        if times is not None:
            self._slices[job].append(times)
            self._calm[job].append(self._probes.calm() and calm)

    def _end(self, job: Job) -> None:
        rest = self._ask(job, "stop")
        if rest is not None:
            slices = self._slices[job]
            measurement = Measurement(
                job=job,
                repeat=self._set.number,
                seconds=tuple(each["seconds"] for each in slices),
                cpu=tuple(each["cpu"] for each in slices),
                calm=tuple(self._calm[job]),
                **rest,
            )
            self.measurements.append(measurement)

    def _ask(self, job: Job, line: str) -> Any:  # noqa: ANN401
        name = self._set.process_of(job)
        try:
            self._processes[name].send(line)
            return self._processes[name].receive()
        except ChildError as error:
            self._processes.drop(name)
            self._fail(job, str(error))
            return None

    def _fail(self, job: Job, reason: str) -> None:
        del self._slices[job]
        self.failures.append(Failure(job, self._set.number, reason))
