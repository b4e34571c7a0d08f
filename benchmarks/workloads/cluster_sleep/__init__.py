# SPDX-License-Identifier: Apache-2.0
"""Simulated nodes: environments that sleep need no processor, so 8 nodes fit here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import EFFORTS, Case, Pace, Workload, paces

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

NODES = (1, 2, 4, 8)
STEPS = 40
"""Of the one environment of each node, in an iteration."""
SLEEP = 0.005
HIDDEN = (16,)


def _share(outcome: Outcome, engine: str, nodes: int) -> float | None:
    """Return the steps per second of several nodes over that of as many alone."""
    found = outcome.ratio(engine, engine, "1", under_case=str(nodes))
    return None if found is None else found.median / nodes


def _notes(outcome: Outcome) -> list[str]:
    found = []
    for engine in outcome.engines():
        shares = [(n, _share(outcome, engine, n)) for n in NODES[1:]]
        text = ", ".join(f"{n}: {s:.2f}" for n, s in shares if s is not None)
        if text:
            found.append(f"Share of linear speed with `{engine}`, by nodes: {text}.")
    return found


def _claims(outcome: Outcome) -> list[Claim]:
    most = NODES[-1]
    return [
        Claim(
            "cluster-linear",
            f"{most} simulated nodes, federates: steps/s over that of one node",
            outcome.ratio("federates-n", "federates-n", "1", under_case=str(most)),
            0.85 * most,
        ),
        Claim(
            "cluster-sleep",
            f"{most} simulated nodes: steps/s of federates over RLlib",
            outcome.ratio("rllib", "federates-n", str(most)),
            1.0,
        ),
    ]


WORKLOAD = Workload(
    name="cluster_sleep",
    title="Simulated nodes",
    about=f"PPO with one environment on each of 1 to {NODES[-1]} nodes, whose steps "
    f"sleep for {SLEEP * 1e3:g} ms: processes of this machine that need no processor "
    f"while they wait. A batch has {STEPS} steps of each environment, and one small "
    "update. Linear speed is that of one node, times the number of nodes.",
    unit="step",
    rate="steps",
    units=lambda params: float(params["nodes"] * STEPS),
    cases=[
        Case(
            str(nodes),
            f"{nodes} node{'s' * (nodes > 1)}",
            {"nodes": nodes, "sleep": SLEEP},
            efforts=EFFORTS if nodes <= 2 else EFFORTS[1:],
            line="nodes",
            x=nodes,
        )
        for nodes in NODES
    ],
    engines={
        "federates-n": "cluster_sleep.ours",
        "rllib": "cluster_sleep.rllib",
    },
    incomparable={"rllib": "it has other random numbers, and another framework."},
    params={"smoke": {"sleep": 0.0}},
    own_process=True,
    pace=paces(Pace(compared=1, sets=3, slices=5, seconds=2.0)),
    claims=_claims,
    notes=_notes,
)
