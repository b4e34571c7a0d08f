# SPDX-License-Identifier: Apache-2.0
"""Training: DQN synchronous, pipelined, with a dashboard, and as an ordinary loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import PYTHONS, on_both

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

LIGHT, HEAVY = "light", "heavy"
FLOWS = ("ours-1", "ours", "pipelined")


def _claims(outcome: Outcome) -> list[Claim]:
    return [
        Claim(
            "training-lag",
            "DQN, learning as expensive as collecting, ft: steps/s with policy lag 1 "
            "over lag 0",
            outcome.ratio("ours-ft", "pipelined-ft", HEAVY),
            1.3,
        ),
        Claim(
            "training-loop",
            "DQN, 16 CartPoles, ft: steps/s over an ordinary JAX loop",
            outcome.ratio("plain-ft", "ours-ft", LIGHT),
            2.0,
        ),
        *(
            Claim(
                f"training-dashboard-{p}",
                f"DQN, 16 CartPoles, {p}: steps/s with a dashboard over without",
                outcome.ratio(f"ours-{p}", f"dashboard-{p}", LIGHT),
                0.98,
            )
            for p in PYTHONS
        ),
    ]


WORKLOAD = Workload(
    name="training",
    title="DQN",
    about="DQN on 16 CartPoles, with few updates (light) and with so many that "
    "learning takes as long as collecting (heavy). The plain loop is CleanRL-like, "
    "with JAX and a SyncVectorEnv. Times are per step of one environment, "
    "learning included.",
    unit="step",
    rate="steps",
    units=lambda params: 1_600.0,
    cases=[
        Case(
            HEAVY,
            "heavy updates",
            {"case": HEAVY},
            efforts=("quick", "full"),
            engines=on_both(*FLOWS),
            pace=paces(Pace(compared=3, sets=6, slices=15, seconds=0.25)),
        ),
        Case(
            LIGHT,
            "light updates",
            {"case": LIGHT},
            pace=paces(Pace(compared=3, sets=6, slices=15, seconds=0.2)),
        ),
    ],
    engines={
        **dict.fromkeys(on_both("plain"), "pipeline.loop"),
        **dict.fromkeys(on_both(*FLOWS), "pipeline.ours:train"),
        **dict.fromkeys(on_both("dashboard"), "training.dashboard"),
    },
    partly=dict.fromkeys(on_both("plain", "dashboard"), "with light updates only."),
    incomparable=dict.fromkeys(
        on_both("plain", *FLOWS, "dashboard"),
        "random numbers, policy lag and versions of JAX differ.",
    ),
    baseline={"gil": "plain", "ft": "plain-ft"},
    own_process=True,
    pace=paces(Pace(compared=3)),
    claims=_claims,
)
