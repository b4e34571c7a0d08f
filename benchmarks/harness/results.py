# SPDX-License-Identifier: Apache-2.0
"""Results: all measurements of a run, and ratios of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from benchmarks.harness.measurement import Failure, Job, Measurement

ENOUGH = 10
"""With this many calm slices in a process the others are left out."""
TWO_CORES = 1.6
"""Speed of two threads without synchronization over one, where two cores exist."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A median and the values it is taken from, one for each set."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median."""
        return median(self.values)

    @property
    def low(self) -> float:
        """The minimum."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The maximum."""
        return max(self.values)


@dataclass
class Results:
    """Measurements by job and set."""

    measurements: list[Measurement] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def jobs(self) -> list[Job]:
        """Return the measured jobs, in the order of measurement."""
        return list(dict.fromkeys(m.job for m in self.measurements))

    def of(self, job: Job) -> dict[int, Measurement]:
        """Return the measurements of a job by set."""
        return {m.repeat: m for m in self.measurements if m.job == job}

    def spread(self, job: Job, number: Callable[[Measurement], float]) -> Spread | None:
        """Return a number of a job over all sets; None if it was not measured."""
        found = tuple(number(m) for m in self.of(job).values())
        return Spread(found) if found else None

    def ratio(
        self,
        over: Job,
        under: Job,
        number: Callable[[Measurement], float],
        sets: Collection[int] | None = None,
    ) -> Spread | None:
        """Return ``over / under``, set by set; None if one was not measured.

        Args:
            over: A job.
            under: A job that took turns with it.
            number: What is compared.
            sets: Which sets count; all if not given.
        """
        overs, unders = self.of(over), self.of(under)
        ratios = [
            number(overs[s]) / number(unders[s])
            for s in overs
            if s in unders and (sets is None or s in sets)
        ]
        return Spread(tuple(ratios)) if ratios else None

    def calm_share(self) -> float:
        """Return the fraction of calm slices."""
        calm = [is_calm for m in self.measurements for is_calm in m.calm]
        return sum(calm) / len(calm) if calm else 1.0


def typical_time(measurement: Measurement) -> float:
    """Return seconds per unit: the lower quartile of the calm slices.

    If too few are calm, it is that of all. A disturbance only ever adds time, and the
    probes before and after a slice do not see every one: the median would still be of
    disturbed slices where the machine is busy for half of the time.
    """
    pairs = zip(measurement.seconds, measurement.calm, strict=True)
    calm = [seconds for seconds, is_calm in pairs if is_calm]
    slices = sorted(calm if len(calm) >= ENOUGH else measurement.seconds)
    return slices[len(slices) // 4]


def from_more(name: str) -> Callable[[Measurement], float]:
    """Return a function that reads a further number of a measurement."""
    return lambda measurement: float(measurement.more[name])
