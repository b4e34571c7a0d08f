# SPDX-License-Identifier: Apache-2.0
"""Everything that was measured, and ratios of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from benchmarks.runtime.job import Failure, Job, Measurement

ENOUGH = 10
"""So many calm slices of a process are enough to leave out the others."""

TWO_CORES = 1.6
"""How much faster two threads that never meet are, where two cores are there."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A median and what it is the median of."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.values)

    @property
    def low(self) -> float:
        """The least."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The greatest."""
        return max(self.values)


@dataclass
class Results:
    """Measurements by job and repeat."""

    measurements: list[Measurement] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def jobs(self) -> list[Job]:
        """Return what was measured, in the order of measurement."""
        return list(dict.fromkeys(m.job for m in self.measurements))

    def of(self, job: Job) -> dict[int, Measurement]:
        """Return the measurements of a job by repeat."""
        return {m.repeat: m for m in self.measurements if m.job == job}

    def spread(self, job: Job, number: Callable[[Measurement], float]) -> Spread | None:
        """Return a number of a job over all repeats; None if it was not measured."""
        found = tuple(number(m) for m in self.of(job).values())
        return Spread(found) if found else None

    def ratio(
        self,
        over: Job,
        under: Job,
        number: Callable[[Measurement], float] | None = None,
        repeats: Collection[int] | None = None,
    ) -> Spread | None:
        """Return ``over / under``, repeat by repeat; None if one was not measured.

        Args:
            over: A job.
            under: A job that took turns with it.
            number: What is compared; ``typical_time`` if not given.
            repeats: Which repeats count; all if not given.
        """
        number = number or typical_time
        overs, unders = self.of(over), self.of(under)
        ratios = [
            number(overs[r]) / number(unders[r])
            for r in overs
            if r in unders and (repeats is None or r in repeats)
        ]
        return Spread(tuple(ratios)) if ratios else None

    def with_two_cores(self, alone: Job, free: Job) -> list[int]:
        """Return the repeats in which the machine had two cores to give.

        Two cores of a virtual machine are at times one core's halves, and then no
        runtime can do with two workers what it could do with two cores. Threads that
        never meet show it.

        Args:
            alone: The work on one thread, without a runtime.
            free: The same work on two threads that never meet.
        """
        alones, frees = self.of(alone), self.of(free)
        return [
            repeat
            for repeat in alones
            if repeat in frees
            and typical_time(alones[repeat]) >= TWO_CORES * typical_time(frees[repeat])
        ]

    def calm_share(self) -> float:
        """Return which part of all slices was calm."""
        calm = [is_calm for m in self.measurements for is_calm in m.calm]
        return sum(calm) / len(calm) if calm else 1.0

    # -- what was computed ----------------------------------------------------------

    def digests(self) -> dict[tuple[str, str, str], dict[str, list[str]]]:
        """Return, by workload, case and Python, which engines computed what."""
        found: dict[tuple[str, str, str], dict[str, list[str]]] = {}
        for m in self.measurements:
            engines = found.setdefault(
                (m.job.workload, m.job.case, m.job.python), {}
            ).setdefault(m.digest, [])
            if m.job.engine not in engines:
                engines.append(m.job.engine)
        return found

    def disagreements(self) -> list[str]:
        """Return, in words, where engines computed different things."""
        return [
            f"{workload} {case} on {python}: "
            + "; ".join(f"{', '.join(who)} computed {what}" for what, who in by.items())
            for (workload, case, python), by in self.digests().items()
            if len(by) > 1
        ]


def typical_time(measurement: Measurement) -> float:
    """Return seconds per round: the lower quartile of slices in which all was calm.

    If too few were, it is that of all. What disturbs a slice only ever adds time, and
    not every disturbance is seen from before and after: the median would still be of
    disturbed slices where the machine is busy for half of the time.
    """
    pairs = zip(measurement.seconds, measurement.calm, strict=True)
    calm = [seconds for seconds, is_calm in pairs if is_calm]
    slices = sorted(calm if len(calm) >= ENOUGH else measurement.seconds)
    return slices[len(slices) // 4]
