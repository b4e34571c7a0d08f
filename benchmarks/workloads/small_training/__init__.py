# SPDX-License-Identifier: Apache-2.0
"""Small trainings: PPO on CartPole, where rollouts are short and networks small."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.results import Spread
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import PYTHONS, on_both

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

NATIVE, PYTHON = "native", "python"
ENGINES = ("ours-1", "ours")
STEPS = 1_024
"""Environment steps of an iteration: 8 environments, 128 steps."""


def _rate(outcome: Outcome, engine: str) -> Spread | None:
    """Return thousands of environment steps per second."""
    found = outcome.time(NATIVE, engine)
    return None if found is None else Spread(tuple(1e-3 / v for v in found.values))


def _claims(outcome: Outcome) -> list[Claim]:
    return [
        Claim(
            f"small-training-{python}",
            f"PPO on CartPole, native rollouts, 2 workers, {python}: steps/s",
            _rate(outcome, f"ours-{python}"),
            60,
            unit="k",
        )
        for python in PYTHONS
    ]


WORKLOAD = Workload(
    name="small_training",
    title="Small trainings",
    about="PPO on 8 CartPoles with its default settings, updates included, after "
    "compilation: with native environments and rollouts in native code (native), and "
    "with environments in Python (python). The weights are the same.",
    unit="step",
    rate="steps",
    units=lambda params: float(STEPS),
    cases=[
        Case(
            name,
            f"environments: {name}",
            {"native": native},
            modules=("gymnasium", "jax", "optax"),
        )
        for name, native in ((NATIVE, "auto"), (PYTHON, False))
    ],
    engines=dict.fromkeys(on_both(*ENGINES), "small_training.ours"),
    baseline={"gil": "ours-1-gil", "ft": "ours-1-ft"},
    own_process=True,
    pace=paces(Pace(compared=3, sets=6, slices=15, seconds=0.3)),
    claims=_claims,
)
