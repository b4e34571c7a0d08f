# SPDX-License-Identifier: Apache-2.0
"""Compiling `.lf`: parsing, checking, lowering and elaborating generated programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import PYTHONS

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

FEW, MANY = "1000", "10000"


def _claims(outcome: Outcome) -> list[Claim]:
    return [
        Claim(
            f"lf-compile-{p}",
            f"Parse and elaborate, {p}: time for 10,000 lines over 1,000",
            outcome.ratio(f"lf-{p}", f"lf-{p}", MANY, under_case=FEW),
            12,
            at_most=True,
        )
        for p in PYTHONS
    ]


WORKLOAD = Workload(
    name="lf_compile",
    title="Compilation",
    about="Parsing, checking, lowering and elaborating generated programs of 1,000 and "
    "10,000 lines.",
    unit="program",
    cases=[
        Case(str(n), f"{n:,} lines", {"lines": n}, group="lines")
        for n in (1_000, 10_000)
    ],
    engines={f"lf-{python}": "lf_compile.ours" for python in PYTHONS},
    baseline={"gil": "lf-gil", "ft": "lf-ft"},
    params={"smoke": {"lines": 100}},
    # One program for each slice.
    pace=paces(Pace(compared=1, sets=5, slices=15, whole=15)),
    claims=_claims,
)
