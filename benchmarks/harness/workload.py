# SPDX-License-Identifier: Apache-2.0
"""Workload: its cases, how long each is measured, and which engines implement it.

Declarations are data: the command reads them without any engine being installed. The
implementations are modules beside the declaration, imported only in the processes of
their engines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.harness.claims import Claim
    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.plots import Plot

Effort: TypeAlias = Literal["smoke", "quick", "full"]
EFFORTS: Final[tuple[Effort, ...]] = ("smoke", "quick", "full")


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a case is measured.

    Attributes:
        compared: After this many rounds all engines must have computed the same.
        sets: Number of sets of processes.
        slices: Slices of each engine in a set, in turns.
        seconds: Approximate length of a slice.
        whole: If given, all slices together are exactly this many rounds, and the
            digest is taken at their end; ``compared`` rounds before them are dropped.
            For training, whose rounds are not alike.
        quantum: A slice is a multiple of this many rounds.
    """

    compared: int
    sets: int = 1
    slices: int = 10
    seconds: float = 0.02
    whole: int | None = None
    quantum: int = 1


def paces(full: Pace) -> dict[Effort, Pace]:
    """Return the paces of all efforts, from that of ``full``."""
    quick = replace(full, sets=1, slices=min(30, full.slices))
    smoke = replace(full, sets=1, slices=2, seconds=0.001)
    if full.whole is not None:
        each = full.whole // full.slices
        quick = replace(quick, whole=each * quick.slices)
        smoke = replace(smoke, whole=each * smoke.slices)
    return {"smoke": smoke, "quick": quick, "full": full}


@dataclass(frozen=True, slots=True)
class Case:
    """One variant of a workload.

    Attributes:
        name: Unique within the workload; part of file names.
        title: Its name in tables.
        params: Passed to ``run``; values that JSON has.
        efforts: Efforts in which it is measured.
        engines: Only these engines; all of the workload if empty.
        needs: Bytes of memory that each engine needs, where that matters: as many
            engines take turns as fit into memory. If one does not fit, the case is
            left out, and the report says so.
        hungry: Engines that need more, and how much: they alone are left out.
        line: Cases with equal ``line`` form one line of a plot and one table.
        x: Position on that line.
        group: Cases with equal ``group`` take turns with each other, because they are
            compared; each has processes of its own.
        pace: Its own pace by effort, where the workload's does not suit.
        modules: Modules it imports besides those that engines need. Environments of
            engines have them; another interpreter without them leaves the case out.
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
    group: str = ""
    pace: Mapping[Effort, Pace] = field(default_factory=dict)
    modules: Sequence[str] = ()

    def needs_of(self, engine: str) -> int:
        """Return how many bytes of memory an engine needs."""
        return max(self.needs, self.hungry.get(engine, 0))


@dataclass(frozen=True, slots=True)
class Workload:
    """A program that engines are compared with.

    Attributes:
        name: Name of its package in ``benchmarks.workloads``.
        title: Its heading.
        about: What happens in a round, in a paragraph of Markdown.
        unit: What a time is given per: round, step, event.
        cases: Its variants.
        engines: Which module of ``benchmarks.workloads`` implements it for which
            engine: ``actors.ours``, or ``actors.ours:function`` instead of ``run``.
        absent: Why an engine has no implementation, where that may surprise.
        partly: Why an engine is not in all cases; for each that is not.
        incomparable: Why an engine cannot compute the same bits as the others.
        pace: How long cases are measured, by effort.
        params: Params that depend on the effort; added to those of cases.
        units: Number of units in a round; one if not given.
        rate: If given, tables also show the number of these per second.
        baseline: Tables show times as multiples of this engine's, by Python.
        numbers: Names in ``Measurement.more`` that two builds of ours are compared by
            besides time, and what they are called.
        calibrated: Whether its busy loops have a length in time, calibrated for each
            Python: then results are compared among engines of one Python.
        own_process: Whether every case needs a fresh process.
        claims: Its claims, and what was measured of them.
        plots: Its plots.
        notes: Further paragraphs for the report, from the measurements.
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
    baseline: Mapping[str, str] = field(
        default_factory=lambda: {"gil": "ours-ft", "ft": "ours-ft"}
    )
    numbers: Mapping[str, str] = field(default_factory=dict)
    calibrated: bool = False
    own_process: bool = False
    claims: Callable[[Outcome], Sequence[Claim]] = lambda outcome: ()
    plots: Callable[[Outcome], Sequence[Plot]] = lambda outcome: ()
    notes: Callable[[Outcome], Sequence[str]] = lambda outcome: ()

    def cases_in(self, effort: Effort) -> list[Case]:
        """Return the cases that are measured in an effort."""
        return [case for case in self.cases if effort in case.efforts]

    def params_of(self, case: Case, effort: Effort) -> dict[str, Any]:
        """Return the params of ``run``."""
        return {**case.params, **self.params.get(effort, {})}

    def pace_of(self, case: Case, effort: Effort) -> Pace:
        """Return how long a case is measured."""
        return case.pace.get(effort) or self.pace[effort]

    def engines_of(self, case: Case) -> list[str]:
        """Return the engines that implement a case."""
        return [e for e in self.engines if not case.engines or e in case.engines]

    def implementation(self, engine: str) -> tuple[str, str]:
        """Return the module and function that implement it for an engine."""
        module, _, function = self.engines[engine.partition("@")[0]].partition(":")
        return module, function or "run"
