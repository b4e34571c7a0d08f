# SPDX-License-Identifier: Apache-2.0
"""Claim: a figure with a bound, and what was measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from benchmarks.engines import engine_named
from benchmarks.harness.results import from_more, typical_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.harness.measurement import Measurement
    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.results import Spread

Verdict: TypeAlias = Literal["kept", "missed", "not measured"]

NO_WORSE = 1.05
"""Bound of every figure of this build over that of another one."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure that must be reached.

    Attributes:
        key: Names it in ``notes.toml``, which has the cause if it is missed.
        text: What is claimed, without the bound.
        measured: One value for each set of processes; None if it was not measured.
        bound: What the median must reach.
        at_most: Whether it must not exceed the bound; otherwise it must not fall below.
        unit: Follows the number.
    """

    key: str
    text: str
    measured: Spread | None
    bound: float
    at_most: bool = False
    unit: str = "x"

    @property
    def verdict(self) -> Verdict:
        """Whether the median keeps the bound."""
        if self.measured is None:
            return "not measured"
        value = self.measured.median
        kept = value <= self.bound if self.at_most else value >= self.bound
        return "kept" if kept else "missed"


def regressions(outcome: Outcome) -> Iterator[Claim]:
    """Yield, for each engine that ran in two builds, that this one is not worse."""
    workload = outcome.workload
    numbers: dict[str, Callable[[Measurement], float]] = {"time": typical_time}
    numbers |= {title: from_more(key) for key, title in workload.numbers.items()}
    for case in outcome.cases():
        for other in outcome.engines(case.name):
            revision = engine_named(other).revision
            if not revision:
                continue
            engine = other.partition("@")[0]
            for title, number in numbers.items():
                yield Claim(
                    f"against-{workload.name}-{case.name}-{engine}-{title}",
                    f"{workload.title}, {case.title}, {engine}: {title} over that of "
                    f"{revision}",
                    outcome.ratio(engine, other, case.name, number=number),
                    NO_WORSE,
                    at_most=True,
                )
