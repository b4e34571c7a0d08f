# SPDX-License-Identifier: Apache-2.0
"""Pipelined training against synchronous training, and with a straggler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.claims import Claim
from benchmarks.harness.results import Spread
from benchmarks.harness.tables import table
from benchmarks.harness.workload import Case, Pace, Workload
from benchmarks.workloads.gym import rate_plot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.plots import Plot
    from benchmarks.harness.workload import Effort

STRAGGLER = "straggler"
TITLES = {
    "light": "DQN, light updates",
    "heavy": "DQN, heavy updates",
    STRAGGLER: "a straggler",
}
EFFORTS: dict[str, tuple[Effort, ...]] = {
    "light": ("smoke", "full"),
    "heavy": ("full",),
    STRAGGLER: ("smoke", "quick", "full"),
}
STEPS = {"light": 1_600, "heavy": 1_600, STRAGGLER: 800}
"""Of environments, in a round."""
OURS = ("ours-ft", "pipelined-ft", "ours-gil", "pipelined-gil")
ENGINES = {
    "ours-ft": "pipeline.ours",
    "pipelined-ft": "pipeline.ours",
    "ours-gil": "pipeline.ours",
    "pipelined-gil": "pipeline.ours",
    "plain": "pipeline.loop",
    "plain-ft": "pipeline.loop",
}
INCOMPARABLE = dict.fromkeys(
    ENGINES,
    "policy lag, random numbers or the version of JAX differ; each training must be "
    "reproducible by itself.",
)
ABOUT = """\
Training with a policy lag of one iteration: rollouts use weights that are one iteration
older and run concurrently with the learner; without a lag they alternate. DQN on 16
CartPoles, with few updates and with so many that learning takes as long as collecting;
and 16 environments in Python (0.2 ms a step), the first of which takes 20 times as long
in every 50th step, with learning that takes half as long as collecting. The plain loop
is like CleanRL's, with JAX and a SyncVectorEnv. Times are per step of one environment,
learning included.
"""


def _case(name: str) -> Case:
    return Case(
        name=name,
        title=TITLES[name],
        params={"case": name},
        efforts=EFFORTS[name],
        engines=OURS if name == STRAGGLER else (),
        line="pipeline",
        modules=("gymnasium", "jax", "optax"),
    )


def _units(params: Mapping[str, Any]) -> float:
    return float(STEPS[params["case"]])


def _weights(outcome: Outcome, case: str, engine: str) -> list[str]:
    """Return the distinct digests of weights."""
    found = [
        weights
        for m in outcome.results.measurements
        if m.job.case == case and m.job.engine == engine
        for weights in m.more.get("weights", ())
    ]
    return list(dict.fromkeys(found))


def _claims(outcome: Outcome) -> list[Claim]:
    different = _weights(outcome, STRAGGLER, "pipelined-ft")
    return [
        Claim(
            "straggler",
            "Straggler: steps/s of pipelined training over synchronous",
            outcome.ratio("ours-ft", "pipelined-ft", STRAGGLER),
            1.2,
        ),
        Claim(
            "straggler-repeat",
            "Straggler: different weights in all repetitions of pipelined training, "
            "with one worker and with two",
            Spread((float(len(different)),)) if different else None,
            1,
            at_most=True,
            unit="",
        ),
    ]


def _notes(outcome: Outcome) -> list[str]:
    rows = [
        (case.title, engine, ", ".join(f"`{each}`" for each in found))
        for case in outcome.cases()
        for engine in OURS
        if (found := _weights(outcome, case.name, engine))
    ]
    if not rows:
        return []
    text = "Weights after the first iterations, with 1 and 2 workers, in all sets:\n\n"
    return [text + table(("training", "engine", "weights"), rows)]


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        rate_plot(outcome, "pipeline", "Synchronous and pipelined training", "pipeline")
    ]


WORKLOAD = Workload(
    name="pipeline",
    title="Pipelined training",
    about=ABOUT,
    unit="step",
    rate="steps",
    units=_units,
    cases=tuple(map(_case, TITLES)),
    engines=ENGINES,
    incomparable=INCOMPARABLE,
    absent={
        "ray-actors": "without a declared policy lag its results depend on timing.",
    },
    partly=dict.fromkeys(
        ("plain", "plain-ft"),
        "not with a straggler, which compares policy lags.",
    ),
    params={
        "smoke": {"repeated": 2},
        "quick": {"repeated": 3},
        "full": {"repeated": 10},
    },
    pace={
        "smoke": Pace(compared=1, slices=1, seconds=0.001),
        "quick": Pace(compared=1, slices=5, seconds=0.1),
        "full": Pace(compared=1, sets=5, slices=15, seconds=0.15),
    },
    claims=_claims,
    plots=_plots,
    notes=_notes,
)
