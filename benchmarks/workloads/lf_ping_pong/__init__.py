# SPDX-License-Identifier: Apache-2.0
"""Ping-pong in LF beside the same program in the Python API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import PYTHONS

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

CASES = {"freeze": "values frozen", "by-reference": "values by reference"}


def _claims(outcome: Outcome) -> list[Claim]:
    return [
        Claim(
            f"lf-ping-pong-{case}-{p}",
            f"Ping-pong, {title}, {p}: time in .lf over the Python API",
            outcome.ratio(f"lf-{p}", f"ours-1-{p}", case),
            1.1,
            at_most=True,
        )
        for case, title in CASES.items()
        for p in PYTHONS
    ]


WORKLOAD = Workload(
    name="lf_ping_pong",
    title="Ping-pong in LF",
    about="`ping_pong.lf` beside the same program in the Python API, both by `run()` "
    "with the same options; values frozen, and by reference as in `reactorl run`.",
    cases=[
        Case(name, title, {"freeze": name == "freeze"}) for name, title in CASES.items()
    ],
    engines={
        engine: "lf_ping_pong.ours"
        for p in PYTHONS
        for engine in (f"ours-1-{p}", f"lf-{p}")
    },
    baseline={"gil": "ours-1-gil", "ft": "ours-1-ft"},
    own_process=True,
    pace=paces(Pace(compared=1_000, sets=5, slices=100, seconds=0.01)),
    claims=_claims,
)
