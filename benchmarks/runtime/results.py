# SPDX-License-Identifier: Apache-2.0
"""Everything that was measured, and ratios of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runtime.job import Failure, Job, Measurement


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

    def spread(
        self, job: Job, number: Callable[[Measurement], float] | None = None
    ) -> Spread | None:
        """Return a number of a job over all repeats; None if it was not measured.

        Args:
            job: The job.
            number: Which number; seconds per round if not given.
        """
        found = self._by_repeat(job, number or (lambda m: m.seconds))
        return Spread(tuple(found.values())) if found else None

    def ratio(
        self,
        over: Job,
        under: Job,
        number: Callable[[Measurement], float] | None = None,
    ) -> Spread | None:
        """Return ``over / under``, repeat by repeat; None if one was not measured."""
        number = number or (lambda m: m.seconds)
        overs, unders = self._by_repeat(over, number), self._by_repeat(under, number)
        ratios = [overs[r] / unders[r] for r in overs if unders.get(r)]
        return Spread(tuple(ratios)) if ratios else None

    def _by_repeat(
        self, job: Job, number: Callable[[Measurement], float]
    ) -> dict[int, float]:
        return {m.repeat: number(m) for m in self.measurements if m.job == job}

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
