# SPDX-License-Identifier: Apache-2.0
"""CartPole star: each client steps an environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads import runtime

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

CASE = "16"


def _claims(outcome: Outcome) -> list[Claim]:
    two_cores = outcome.sets_with_two_cores("plain-ft", "free", CASE)
    return [
        *(
            Claim(
                f"cartpole-star-{ours}-{other}",
                f"Star, {CASE} CartPoles, ft: speed of {title}",
                outcome.ratio(other, ours, CASE, sets=sets),
                bound,
            )
            for ours, other, title, bound, sets in (
                ("ours-1-ft", "plain-ft", "1 worker over plain loop", 0.93, None),
                ("ours-ft", "plain-ft", "2 workers over plain loop", 1.4, two_cores),
                ("ours-ft", "free", "2 workers over the upper bound", 0.85, two_cores),
            )
        ),
        *runtime.two_workers_do_no_harm(outcome, [CASE]),
        *runtime.tracing_is_cheap(outcome, CASE),
    ]


WORKLOAD = Workload(
    name="cartpole_star",
    title="Star of CartPoles",
    about="A star in which each of 16 clients steps a CartPole.",
    cases=[
        Case(
            CASE,
            f"{CASE} CartPoles",
            {"clients": 16, "env": "CartPole-v1"},
            modules=("gymnasium",),
        )
    ],
    engines=runtime.engines("star", "free", "ours-1-trace"),
    baseline=runtime.PLAIN,
    own_process=True,
    # Many sets: those count for two workers in which the machine has two cores.
    pace=paces(Pace(compared=200, sets=10, slices=30, seconds=0.01)),
    claims=_claims,
)
