# SPDX-License-Identifier: Apache-2.0
"""What was measured of one workload, as its claims, plots and notes read it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.evidence.engines import ENGINES
from benchmarks.evidence.workloads import load
from benchmarks.runtime.job import Job
from benchmarks.runtime.results import Results, Spread, typical_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.evidence.workload import Case, Effort, Workload
    from benchmarks.runtime.job import Measurement


def job_of(workload: str, case: str, engine: str) -> Job:
    """Return the job of an engine, on the Python of its environment."""
    python = "ft" if ENGINES[engine].free_threaded else "gil"
    return Job(workload, case, engine, python)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measurements of one workload.

    Times are seconds per unit of the workload. Everything is None where something
    was not measured, so that a claim about it says so.
    """

    workload: Workload
    effort: Effort
    results: Results

    def time(
        self,
        case: str,
        engine: str,
        number: Callable[[Measurement], float] = typical_time,
    ) -> Spread | None:
        """Return a number of an engine, by default the time per unit, by set."""
        return self.results.spread(job_of(self.workload.name, case, engine), number)

    def ratio(
        self,
        over: str,
        under: str,
        case: str,
        *,
        under_case: str | None = None,
        number: Callable[[Measurement], float] = typical_time,
        sets: Sequence[int] | None = None,
    ) -> Spread | None:
        """Return how much longer engine ``over`` takes than ``under``, by set."""
        name = self.workload.name
        one = job_of(name, case, over)
        other = job_of(name, under_case or case, under)
        return self.results.ratio(one, other, number, sets)

    def ratio_to_best(
        self, ours: str, others: Sequence[str], case: str
    ) -> Spread | None:
        """Return the time of the fastest of some engines over that of ours, by set."""
        found = [
            ratio for e in others if (ratio := self.ratio(e, ours, case)) is not None
        ]
        if not found:
            return None
        return min(found, key=lambda ratio: ratio.median)

    def sets_with_two_cores(self, alone: str, free: str, case: str) -> list[int]:
        """Return the sets in which the machine had two cores to give.

        Those in which two threads that never meet (``free``) were clearly faster than
        one (``alone``), see ``benchmarks.runtime.results``.
        """
        name = self.workload.name
        return self.results.with_two_cores(
            job_of(name, case, alone), job_of(name, case, free)
        )

    def cases(self) -> list[Case]:
        """Return the cases of which something was measured."""
        measured = {job.case for job in self.results.jobs()}
        return [case for case in self.workload.cases if case.name in measured]

    def engines(self, case: str) -> list[str]:
        """Return who was measured in a case, in the order of the declaration."""
        measured = {j.engine for j in self.results.jobs() if j.case == case}
        return [engine for engine in self.workload.engines if engine in measured]


def worst(ratios: Sequence[Spread | None], *, at_most: bool) -> Spread | None:
    """Return the ratio that is worst for a bound; None if one is not known."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known or len(known) < len(ratios):
        return None
    pick = max if at_most else min
    return pick(known, key=lambda ratio: median(ratio.values))


def must_compare(workload: Workload, engine: str) -> bool:
    """Return whether an engine must have computed what others have.

    Threads that never meet may have no common result.
    """
    return not (ENGINES[engine].is_limit or engine in workload.incomparable)


def computed(results: Results) -> dict[tuple[str, str], dict[str, list[str]]]:
    """Return, by workload and case, which engines computed what."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for m in results.measurements:
        if not m.digest and not must_compare(load(m.job.workload), m.job.engine):
            continue
        by_digest = found.setdefault((m.job.workload, m.job.case), {})
        engines = by_digest.setdefault(m.digest, [])
        if m.job.engine not in engines:
            engines.append(m.job.engine)
    return found


def disagreements(results: Results) -> list[str]:
    """Return, in words, where engines computed different things."""
    return [
        f"{workload} {case}: "
        + "; ".join(f"{', '.join(who)} computed {what}" for what, who in by.items())
        for (workload, case), by in computed(results).items()
        if len(by) > 1
    ]


def headline(reason: str) -> str:
    """Return the line of a traceback, or of an installer, that says what is wrong."""
    lines = [line for line in reason.splitlines() if line.strip()]
    for index, line in enumerate(lines):
        if line.startswith("Traceback"):
            rest = (x for x in lines[index + 1 :] if not x.startswith(" "))
            return next(rest, line)
    return lines[-1] if lines else "no reason given"
