# SPDX-License-Identifier: Apache-2.0
"""What a run measures, in which order, and how a measurement is recognised again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from benchmarks.evidence.engines import ENGINES
from benchmarks.evidence.fingerprints import (
    ours_digest,
    value_digest,
    workload_digest,
)
from benchmarks.evidence.outcome import job_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from benchmarks.evidence.environments import Place
    from benchmarks.evidence.workload import Case, Effort, Workload
    from benchmarks.runtime.job import Job

INSTALLERS = ("pip", "setuptools")
SHARED = 0.8
"""This part of the free memory is for engines that take turns: what they need is an
estimate, and its error grows with their number."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A case of a workload in one set of processes: engines that take turns."""

    workload: Workload
    case: Case
    effort: Effort
    number: int
    """Of the set."""
    sets: int
    """How many there are of this case."""
    keys: Mapping[str, str]
    """What is measured, by engine: a fingerprint of all that could change it."""
    memory: int
    """So many bytes are free for all processes together."""

    @property
    def label(self) -> str:
        """What is measured, in words."""
        which = f", set {self.number + 1} of {self.sets}" if self.sets > 1 else ""
        who = f", {self.phase}" if self.phase else ""
        return f"{self.workload.title}: {self.case.title}{who}{which}"

    @property
    def shares_start(self) -> bool:
        """Whether its process does all workloads: what starts slowly, if time is short.

        Otherwise each workload has new processes, and all of them are measured within
        minutes.
        """
        return self.effort == "quick" and bool(self.phase)

    @property
    def phase(self) -> str:
        """The engine if it is restless and so alone; otherwise nothing."""
        return next((e for e in self.keys if ENGINES[e].restless), "")

    def jobs(self) -> list[Job]:
        """Return what is measured, in the order of turns."""
        return [job_of(self.workload.name, self.case.name, e) for e in self.keys]

    def parties(self) -> list[list[Job]]:
        """Return who takes turns with whom: those that have room at a time."""
        parties: list[list[Job]] = []
        room = 0
        for job in self.jobs():
            needs = self.case.needs_of(job.engine)
            if not parties or needs > room:
                parties.append([])
                room = int(self.memory * SHARED)
            parties[-1].append(job)
            room -= needs
        return parties

    def files(self) -> list[str]:
        """Return the names of the files that it makes."""
        return [file_name(job, self.number) for job in self.jobs()]

    def request(self) -> dict[str, Any]:
        """Return what a process is asked for."""
        return {
            "workload": self.workload.name,
            "params": self.workload.params_of(self.case, self.effort),
            "pace": asdict(self.workload.pace_of(self.case, self.effort)),
        }


def file_name(job: Job, number: int) -> str:
    """Return the name of the file of a measurement."""
    return f"{job.workload}--{job.case}--{job.engine}--{number}.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run measures.

    Attributes:
        effort: How much of everything.
        turns: In order; all cases of a workload in a set follow one another.
        left_out: Cases, or engines in a case, that this machine has too little memory
            for, and why.
    """

    effort: Effort
    turns: Sequence[Turn]
    left_out: Mapping[str, str]

    def stints(self) -> Iterator[list[Turn]]:
        """Yield turns that share processes."""
        stint: list[Turn] = []
        for turn in self.turns:
            if stint and _company(stint[0]) != _company(turn):
                yield stint
                stint = []
            stint.append(turn)
        if stint:
            yield stint


def nothing_is_done(turn: Turn) -> bool:
    """Return that it has to be measured."""
    del turn
    return False


def make_plan(
    workloads: Sequence[Workload],
    engines: Collection[str],
    places: Mapping[str, Place],
    effort: Effort,
    memory: int,
    most_sets: int | None = None,
    is_done: Callable[[Turn], bool] = nothing_is_done,
) -> Plan:
    """Return what to measure.

    Args:
        workloads: Which workloads.
        engines: Which engines.
        places: Where engines live; those that live nowhere are not measured.
        effort: How much.
        memory: So many bytes are free.
        most_sets: At most so many sets of a case; None: as workloads say.
        is_done: Tells what was measured before: further sets of that belong to the
            plan, too, as they are there already.
    """
    turns: list[Turn] = []
    left_out: dict[str, str] = {}
    for workload in workloads:
        for case in workload.cases_in(effort):
            name = f"{workload.title}: {case.title}"
            if case.needs > memory:
                left_out[name] = _too_little(case.needs, memory)
                continue
            keys: dict[str, str] = {}
            for engine in workload.engines_of(case):
                if engine not in engines or engine not in places:
                    continue
                if not places[engine].has(case.modules):
                    continue
                needs = case.needs_of(engine)
                if needs > memory:
                    who = f"{name}, {ENGINES[engine].title}"
                    left_out[who] = _too_little(needs, memory)
                    continue
                keys[engine] = _key(workload, case, engine, effort, places[engine])
            every = workload.pace_of(case, effort).sets
            sets = every if most_sets is None else min(every, most_sets)
            for number, group in product(range(every), _phases(keys)):
                turn = Turn(workload, case, effort, number, sets, group, memory)
                if number < sets or is_done(turn):
                    turns.append(turn)
    order = {workload.name: index for index, workload in enumerate(workloads)}
    turns.sort(
        key=lambda turn: (
            turn.number,
            turn.phase if turn.shares_start else "",
            order[turn.workload.name],
            turn.phase,
        )
    )
    return Plan(effort, tuple(turns), left_out)


def _too_little(needs: int, memory: int) -> str:
    return (
        f"it needs {needs / 2**30:.3g} GiB of memory, and {memory / 2**30:.3g} GiB "
        "were free"
    )


def _phases(keys: Mapping[str, str]) -> list[dict[str, str]]:
    """Return who takes turns with whom: all quiet engines, and each restless alone."""
    quiet = {e: key for e, key in keys.items() if not ENGINES[e].restless}
    alone = [{e: key} for e, key in keys.items() if ENGINES[e].restless]
    return [group for group in (quiet, *alone) if group]


def _company(turn: Turn) -> tuple[str, int, str]:
    """Return what turns have in common that share processes."""
    workload = "" if turn.shares_start else turn.workload.name
    return workload, turn.number, turn.phase


def _key(
    workload: Workload, case: Case, engine: str, effort: Effort, place: Place
) -> str:
    """Return a fingerprint of all that a measurement depends on, but the machine.

    Our own code counts for every engine: a ratio is of one run, so when ours is
    measured again, all others are.
    """
    pace = asdict(workload.pace_of(case, effort))
    del pace["sets"]  # more sets leave those alone that there are
    return value_digest(
        {
            "workload": workload.name,
            "case": case.name,
            "engine": engine,
            "params": workload.params_of(case, effort),
            "pace": pace,
            "code": workload_digest(workload.name),
            "ours": ours_digest(),
            "python": place.facts["version"],
            "packages": {
                name: version
                for name, version in place.facts["packages"].items()
                if name not in INSTALLERS
            },
        }
    )
