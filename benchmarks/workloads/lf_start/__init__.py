# SPDX-License-Identifier: Apache-2.0
"""Start-up of `reactorl run`, from the start of the process to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import PYTHONS

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome


def _claims(outcome: Outcome) -> list[Claim]:
    return [
        Claim(
            f"lf-start-{python}",
            f"hello.lf, {python}: time of 'reactorl run' over 'import lark'",
            outcome.ratio(f"lf-{python}", f"lark-{python}", "hello"),
            6,
            at_most=True,
        )
        for python in PYTHONS
    ]


WORKLOAD = Workload(
    name="lf_start",
    title="Start-up",
    about="`reactorl run hello.lf` beside `python -c 'import lark'`, start to end. "
    "Byte code is cached for both, as it is for an installed package; our grammar "
    "tables are part of the package, so lark is only the yardstick.",
    unit="start",
    cases=[Case("hello", "hello.lf", {})],
    engines={f"{e}-{p}": "lf_start.start" for p in PYTHONS for e in ("lark", "lf")},
    incomparable=dict.fromkeys(
        [f"{e}-{p}" for p in PYTHONS for e in ("lark", "lf")],
        "the programs differ.",
    ),
    baseline={"gil": "lark-gil", "ft": "lark-ft"},
    # One start for each slice.
    pace=paces(Pace(compared=1, sets=5, slices=30, whole=30)),
    claims=_claims,
)
