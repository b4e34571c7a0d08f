# SPDX-License-Identifier: Apache-2.0
"""Match: four agents in one environment, each with a policy."""

from __future__ import annotations

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import PYTHONS, on_both

TURNS = 20
"""Turns of all agents in a round."""

WORKLOAD = Workload(
    name="match",
    title="Multi-agent match",
    about="Four agents take turns in one environment, with policies in NumPy and in "
    "JAX; as reactors (`Match`) and in a plain loop. With policies in JAX a turn is "
    "measured but there is no claim: JAX's threads fall asleep when calls are some "
    "microseconds apart, so that a call takes 15 µs in a loop that does nothing else, "
    "and 20 to 90 µs otherwise.",
    unit="turn",
    units=lambda params: float(TURNS),
    cases=[
        Case(
            policy,
            f"policies in {title}",
            {"policy": policy},
            modules=("jax", "pettingzoo"),
        )
        for policy, title in (("jax", "JAX"), ("numpy", "NumPy"))
    ],
    engines={
        **dict.fromkeys(on_both("plain"), "match.run:loop"),
        **dict.fromkeys(on_both("ours-1", "ours"), "match.run"),
    },
    incomparable=dict.fromkeys(
        on_both("plain", "ours-1", "ours"), "random numbers differ."
    ),
    baseline={"gil": "plain", "ft": "plain-ft"},
    own_process=True,
    pace=paces(Pace(compared=3, sets=3, slices=20, seconds=0.05)),
    claims=lambda outcome: [
        Claim(
            f"match-{python}",
            f"4 agents, {python}: a turn over a plain loop's",
            outcome.ratio(f"ours-1-{python}", WORKLOAD.baseline[python], "numpy"),
            1.6,
            at_most=True,
        )
        for python in PYTHONS
    ],
)
