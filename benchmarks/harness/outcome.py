# SPDX-License-Identifier: Apache-2.0
"""Outcome: the measurements of one workload, as claims, plots and notes read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.engines import engine_named
from benchmarks.harness.measurement import Job
from benchmarks.harness.results import TWO_CORES, Results, Spread, typical_time
from benchmarks.workloads import load

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from benchmarks.harness.measurement import Measurement
    from benchmarks.harness.workload import Case, Effort, Workload


def job_of(workload: str, case: str, engine: str) -> Job:
    """Return the job of an engine, on the interpreter of its environment."""
    return Job(workload, case, engine, engine_named(engine).python)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measurements of one workload.

    Times are seconds per unit of the workload. Results are None where something was
    not measured, so that a claim about it says so.
    """

    workload: Workload
    effort: Effort
    results: Results

    def job(self, case: str, engine: str) -> Job:
        """Return the job of an engine in a case."""
        return job_of(self.workload.name, case, engine)

    def time(
        self,
        case: str,
        engine: str,
        number: Callable[[Measurement], float] = typical_time,
    ) -> Spread | None:
        """Return a number of an engine, by default the time per unit, by set."""
        return self.results.spread(self.job(case, engine), number)

    def ratio(
        self,
        over: str,
        under: str,
        case: str,
        *,
        under_case: str | None = None,
        number: Callable[[Measurement], float] = typical_time,
        sets: Collection[int] | None = None,
    ) -> Spread | None:
        """Return how much longer engine ``over`` takes than ``under``, by set."""
        one, other = self.job(case, over), self.job(under_case or case, under)
        return self.results.ratio(one, other, number, sets)

    def ratio_to_best(
        self, ours: str, others: Sequence[str], case: str
    ) -> Spread | None:
        """Return the time of the fastest of some engines over that of ours, by set."""
        ratios = [self.ratio(engine, ours, case) for engine in others]
        return worst([r for r in ratios if r is not None], at_most=False)

    def sets_with_two_cores(self, alone: str, free: str, case: str) -> list[int]:
        """Return the sets in which the machine had two cores.

        Two cores of a virtual machine are at times two threads of one core, and then
        no runtime can do with two workers what it could do with two cores. The upper
        bound (no synchronization) shows it.

        Args:
            alone: The engine that does the work on one thread, without a runtime.
            free: The engine that does it on two threads without synchronization.
            case: The case.
        """
        alones = self.results.of(self.job(case, alone))
        frees = self.results.of(self.job(case, free))
        return [
            number
            for number in alones
            if number in frees
            and typical_time(alones[number]) >= TWO_CORES * typical_time(frees[number])
        ]

    def cases(self) -> list[Case]:
        """Return the measured cases."""
        measured = {job.case for job in self.results.jobs()}
        return [case for case in self.workload.cases if case.name in measured]

    def engines(self, *cases: str) -> list[str]:
        """Return the engines measured in some cases, in the order of declaration."""
        measured = {j.engine for j in self.results.jobs() if j.case in cases}
        order = list(self.workload.engines)
        return sorted(measured, key=lambda e: (order.index(e.partition("@")[0]), e))


def worst(ratios: Sequence[Spread | None], *, at_most: bool) -> Spread | None:
    """Return the ratio that is worst for a bound; None if one is not known."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known or len(known) < len(ratios):
        return None
    pick = max if at_most else min
    return pick(known, key=lambda ratio: ratio.median)


def must_compare(workload: Workload, engine: str) -> bool:
    """Return whether the results of an engine must equal those of the others.

    An upper bound (no synchronization) may have no common result.
    """
    base = engine.partition("@")[0]
    return not (engine_named(base).is_limit or base in workload.incomparable)


def computed(results: Results) -> dict[tuple[str, str, str], dict[str, list[str]]]:
    """Return the engines by workload, case, Python if it matters, and digest."""
    found: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for m in results.measurements:
        workload = load(m.job.workload)
        if not m.digest and not must_compare(workload, m.job.engine):
            continue
        python = m.job.python if workload.calibrated else ""
        by_digest = found.setdefault((m.job.workload, m.job.case, python), {})
        engines = by_digest.setdefault(m.digest, [])
        if m.job.engine not in engines:
            engines.append(m.job.engine)
    return found


def errors(results: Results) -> list[str]:
    """Return why the numbers are not valid: different results, or a GIL."""
    found = [
        f"Engines disagree: {workload} {case}: "
        + "; ".join(f"{', '.join(who)} computed {what}" for what, who in by.items())
        for (workload, case, _), by in computed(results).items()
        if len(by) > 1
    ]
    with_gil = dict.fromkeys(
        m.job.engine for m in results.measurements if m.gil and m.job.python == "ft"
    )
    if with_gil:
        found.append(f"The GIL was on in free-threaded Python: {', '.join(with_gil)}")
    return found


def headline(reason: str) -> str:
    """Return the line of a traceback, or of an installer, that names the error."""
    lines = [line for line in reason.splitlines() if line.strip()]
    for index, line in enumerate(lines):
        if line.startswith("Traceback"):
            rest = (x for x in lines[index + 1 :] if not x.startswith(" "))
            return next(rest, line)
    return lines[-1] if lines else "no reason given"
