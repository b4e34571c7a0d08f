# SPDX-License-Identifier: Apache-2.0
"""What a workload says about itself: its cases, its pace, who implements it.

Declarations are data: the command reads them without any engine being installed. The
implementations are modules beside the declaration, imported only in the processes of
their engines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.evidence.claims import Claim
    from benchmarks.evidence.outcome import Outcome
    from benchmarks.evidence.plots import Plot

Effort: TypeAlias = Literal["smoke", "quick", "full"]
EFFORTS: Final[tuple[Effort, ...]] = ("smoke", "quick", "full")


@dataclass(frozen=True, slots=True)
class Pace:
    """How much is measured.

    Attributes:
        compared: After so many rounds every engine must have computed the same.
        sets: In how many sets of processes.
        slices: So many slices each in a set, in turns.
        seconds: How long a slice is, about.
        whole: If given, all slices together are exactly so many rounds, and the digest
            is taken at their end; ``compared`` rounds are dropped before them. For
            training, whose rounds are not alike.
    """

    compared: int
    sets: int = 1
    slices: int = 10
    seconds: float = 0.02
    whole: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One variant of a workload.

    Attributes:
        name: Unique within the workload; part of file names.
        title: As it is called in tables.
        params: What ``run`` gets; values that JSON has.
        efforts: In which efforts it is measured.
        engines: Only these engines; all of the workload if empty.
        needs: So many bytes of memory each engine needs, where that matters: as many
            engines take turns as have room at a time. If there is none for one, the
            case is left out, and the report says so.
        hungry: Engines that need more, and how much: they alone are left out.
        line: Cases with equal ``line`` form one line of a plot.
        x: Where on that line.
        pace: Its own pace by effort, where the workload's does not suit.
        modules: What it imports besides what engines need. The engines' own
            environments have them; another Python may not, and leaves it out.
    """

    name: str
    title: str
    params: Mapping[str, Any]
    efforts: Sequence[Effort] = EFFORTS
    engines: Sequence[str] = ()
    needs: int = 0
    hungry: Mapping[str, int] = field(default_factory=dict)
    line: str = ""
    x: float | None = None
    pace: Mapping[Effort, Pace] = field(default_factory=dict)
    modules: Sequence[str] = ()

    def needs_of(self, engine: str) -> int:
        """Return how many bytes of memory an engine needs."""
        return max(self.needs, self.hungry.get(engine, 0))


@dataclass(frozen=True, slots=True)
class Workload:
    """What engines are compared with.

    Attributes:
        name: Name of its package in ``benchmarks.evidence.workloads``.
        title: As a heading.
        about: What happens in a round, in a paragraph of Markdown.
        unit: What a time is given per: round, step, event.
        cases: Its variants.
        engines: Which module implements it for which engine, named from
            ``benchmarks.evidence.workloads``: ``actors.ours``.
        absent: Why an engine has no implementation, where that may surprise.
        partly: Why an engine is not in all cases; for each that is not.
        incomparable: Why an engine cannot compute the same bits as the others.
        pace: How much is measured, by effort.
        params: Params that depend on the effort; added to those of cases.
        units: How many units a round has; one if not given.
        rate: If given, tables show so many of these per second besides times.
        claims: What must hold, and what was measured of it.
        plots: Its pictures.
        notes: Further paragraphs for the page, from what was measured.
    """

    name: str
    title: str
    about: str
    cases: Sequence[Case]
    engines: Mapping[str, str]
    pace: Mapping[Effort, Pace]
    unit: str = "round"
    absent: Mapping[str, str] = field(default_factory=dict)
    partly: Mapping[str, str] = field(default_factory=dict)
    incomparable: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[Effort, Mapping[str, Any]] = field(default_factory=dict)
    units: Callable[[Mapping[str, Any]], float] = lambda params: 1.0
    rate: str = ""
    claims: Callable[[Outcome], Sequence[Claim]] = lambda outcome: ()
    plots: Callable[[Outcome], Sequence[Plot]] = lambda outcome: ()
    notes: Callable[[Outcome], Sequence[str]] = lambda outcome: ()

    def cases_in(self, effort: Effort) -> list[Case]:
        """Return the cases that are measured in an effort."""
        return [case for case in self.cases if effort in case.efforts]

    def case(self, name: str) -> Case:
        """Return the case with a name."""
        return next(case for case in self.cases if case.name == name)

    def params_of(self, case: Case, effort: Effort) -> dict[str, Any]:
        """Return what ``run`` gets."""
        return {**case.params, **self.params.get(effort, {})}

    def pace_of(self, case: Case, effort: Effort) -> Pace:
        """Return how much of a case is measured."""
        return case.pace.get(effort) or self.pace[effort]

    def engines_of(self, case: Case) -> list[str]:
        """Return who implements a case."""
        return [e for e in self.engines if not case.engines or e in case.engines]
