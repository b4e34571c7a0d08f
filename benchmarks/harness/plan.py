# SPDX-License-Identifier: Apache-2.0
"""Plan: what a run measures, in which order, and the key of each measurement."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby, product
from typing import TYPE_CHECKING, Any

from benchmarks.engines import engine_named
from benchmarks.harness.fingerprints import (
    ours_digest,
    value_digest,
    workload_digest,
)
from benchmarks.harness.outcome import job_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.harness.environments import Place
    from benchmarks.harness.measurement import Job
    from benchmarks.harness.workload import Case, Effort, Workload

INSTALLERS = ("pip", "setuptools")
SHARED = 0.8
"""Fraction of the free memory for engines that take turns: what they need is an
estimate, and its error grows with their number."""


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Jobs that take turns in one set of processes: a case, or cases of one group."""

    workload: Workload
    cases: Sequence[Case]
    effort: Effort
    number: int
    """Of the set."""
    sets: int
    """Number of sets of these cases."""
    keys: Mapping[Job, str]
    """The jobs in the order of turns; the key depends on all that could change one."""
    memory: int
    """Bytes of free memory for all processes together."""

    @property
    def label(self) -> str:
        """What is measured, for the progress bar."""
        which = f", set {self.number + 1} of {self.sets}" if self.sets > 1 else ""
        engine = f", {self.alone}" if self.alone else ""
        cases = " / ".join(case.title for case in self.cases)
        return f"{self.workload.title}: {cases}{engine}{which}"

    @property
    def alone(self) -> str:
        """The engine if it waits busily and so takes no turns; otherwise empty."""
        busy = (j.engine for j in self.keys if engine_named(j.engine).busy_waiting)
        return next(busy, "")

    @property
    def shares_start(self) -> bool:
        """Whether its process runs all workloads: a slow start-up, and little time.

        Otherwise each workload has new processes, and all of them are measured within
        minutes.
        """
        return self.effort == "quick" and bool(self.alone)

    @property
    def processes(self) -> tuple[str, int, str, str]:
        """What case sets have in common that share processes."""
        workload = "" if self.shares_start else self.workload.name
        case = self.cases[0].name if self._own_processes else ""
        return workload, self.number, self.alone, case

    @property
    def _own_processes(self) -> bool:
        return self.workload.own_process or len(self.cases) > 1

    def process_of(self, job: Job) -> str:
        """Return the name of the process that runs a job."""
        return f"{job.engine} {job.case}" if self._own_processes else job.engine

    def fitting_into_memory(self) -> list[list[Job]]:
        """Return the jobs in groups that fit into memory at a time."""
        groups: list[list[Job]] = []
        room = 0
        for job in self.keys:
            needs = self._case(job).needs_of(job.engine)
            if not groups or needs > room:
                groups.append([])
                room = int(self.memory * SHARED)
            groups[-1].append(job)
            room -= needs
        return groups

    def slices(self, job: Job) -> int:
        """Return how many slices a job has."""
        return self.workload.pace_of(self._case(job), self.effort).slices

    def files(self) -> dict[str, str]:
        """Return the names of the files of its measurements, and their keys."""
        return {job.file_name(self.number): key for job, key in self.keys.items()}

    def request(self, job: Job) -> dict[str, Any]:
        """Return the request for a job to its process."""
        case = self._case(job)
        return {
            "workload": self.workload.name,
            "params": self.workload.params_of(case, self.effort),
            "pace": asdict(self.workload.pace_of(case, self.effort)),
        }

    def _case(self, job: Job) -> Case:
        return next(case for case in self.cases if case.name == job.case)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run measures.

    Attributes:
        case_sets: In order; all cases of a workload in a set follow one another.
        left_out: Cases, or engines in a case, that need more memory than there is.
    """

    case_sets: Sequence[CaseSet]
    left_out: Mapping[str, str]

    def by_processes(self) -> Iterator[list[CaseSet]]:
        """Yield the case sets that share processes, together."""
        for _, found in groupby(self.case_sets, key=lambda each: each.processes):
            yield list(found)


def nothing_is_done(case_set: CaseSet) -> bool:
    """Return that a case set has to be measured."""
    del case_set
    return False


def make_plan(
    workloads: Sequence[Workload],
    places: Mapping[str, Place],
    effort: Effort,
    memory: int,
    most_sets: int | None = None,
    is_done: Callable[[CaseSet], bool] = nothing_is_done,
) -> Plan:
    """Return what to measure.

    Args:
        workloads: Which workloads.
        places: The engines, and where they are installed.
        effort: How much.
        memory: Bytes of free memory.
        most_sets: At most this many sets of a case; None: as workloads say.
        is_done: Tells which sets were measured before: further sets of these belong to
            the plan as well.
    """
    case_sets: list[CaseSet] = []
    left_out: dict[str, str] = {}
    for workload in workloads:
        for cases in _grouped(workload.cases_in(effort)):
            keys: dict[Job, str] = {}
            for case in cases:
                keys |= _keys(workload, case, places, effort, memory, left_out)
            every = workload.pace_of(cases[0], effort).sets
            sets = every if most_sets is None else min(every, most_sets)
            for number, jobs in product(range(every), _taking_turns(keys)):
                found = CaseSet(workload, cases, effort, number, sets, jobs, memory)
                if number < sets or is_done(found):
                    case_sets.append(found)
    order = {workload.name: index for index, workload in enumerate(workloads)}
    case_sets.sort(
        key=lambda each: (
            each.number,
            each.alone if each.shares_start else "",
            order[each.workload.name],
            each.alone,
        )
    )
    return Plan(tuple(case_sets), left_out)


def _grouped(cases: Sequence[Case]) -> list[list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group or f"alone {case.name}", []).append(case)
    return list(groups.values())


def _keys(
    workload: Workload,
    case: Case,
    places: Mapping[str, Place],
    effort: Effort,
    memory: int,
    left_out: dict[str, str],
) -> dict[Job, str]:
    """Return the jobs of a case and their keys; two builds of ours are neighbours."""
    title = f"{workload.title}: {case.title}"
    if case.needs > memory:
        left_out[title] = _too_little(case.needs, memory)
        return {}
    keys: dict[Job, str] = {}
    for base in workload.engines_of(case):
        for engine in (e for e in places if e.partition("@")[0] == base):
            if not places[engine].has(case.modules):
                continue
            needs = case.needs_of(base)
            if needs > memory:
                who = f"{title}, {engine_named(engine).title}"
                left_out[who] = _too_little(needs, memory)
                continue
            job = job_of(workload.name, case.name, engine)
            keys[job] = _key(workload, case, engine, effort, places[engine])
    return keys


def _too_little(needs: int, memory: int) -> str:
    return (
        f"it needs {needs / 2**30:.3g} GiB of memory, and {memory / 2**30:.3g} GiB "
        "were free"
    )


def _taking_turns(keys: Mapping[Job, str]) -> list[dict[Job, str]]:
    """Return the jobs that take turns, and apart from them each that waits busily."""
    turns: dict[Job, str] = {}
    apart: list[dict[Job, str]] = []
    for job, key in keys.items():
        if engine_named(job.engine).busy_waiting:
            apart.append({job: key})
        else:
            turns[job] = key
    return [group for group in (turns, *apart) if group]


def _key(
    workload: Workload, case: Case, engine: str, effort: Effort, place: Place
) -> str:
    """Return a digest of all that a measurement depends on, except the machine.

    Our own code counts for every engine: ratios are taken within one run, so when ours
    is measured again, all others are.
    """
    pace = asdict(workload.pace_of(case, effort))
    del pace["sets"]  # more sets do not change those that exist
    packages = place.facts["packages"].items()
    return value_digest(
        {
            "workload": workload.name,
            "case": case.name,
            "engine": engine,
            "params": workload.params_of(case, effort),
            "pace": pace,
            "code": workload_digest(workload.name),
            "ours": ours_digest(),
            "source": place.source,
            "python": place.facts["version"],
            "packages": {name: v for name, v in packages if name not in INSTALLERS},
        }
    )
