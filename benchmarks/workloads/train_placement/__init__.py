# SPDX-License-Identifier: Apache-2.0
"""Placement of environments in training: one process, or two worker processes."""

from __future__ import annotations

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces

CASE = "1ms"
ENVS, STEPS = 4, 25

WORKLOAD = Workload(
    name="train_placement",
    title="Placement of environments",
    about=f"DQN with {ENVS} environments in pure Python, each step of which takes 1 ms "
    "with the GIL held, on CPython with GIL: environments in threads of one process "
    "(`ReactoRL GIL`), and in two worker processes. Weights must be bit-identical.",
    unit="step",
    rate="steps",
    units=lambda params: float(ENVS * STEPS),
    cases=[
        Case(
            CASE, "1 ms per step", {"us": 1_000}, modules=("gymnasium", "jax", "optax")
        )
    ],
    engines=dict.fromkeys(("ours-gil", "ours-process"), "train_placement.ours"),
    baseline={"gil": "ours-gil", "ft": "ours-gil"},
    calibrated=True,
    own_process=True,
    params={"smoke": {"us": 5}},
    pace=paces(Pace(compared=2, sets=6, slices=15, seconds=0.2)),
    claims=lambda outcome: [
        Claim(
            "train-placement",
            "DQN, environments of 1 ms in Python, GIL: steps/s with 2 processes over 1",
            outcome.ratio("ours-gil", "ours-process", CASE),
            1.6,
        )
    ],
)
