# SPDX-License-Identifier: Apache-2.0
"""Parallel Q-learning: 16 rollouts, a replay buffer, one update a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.evidence.claims import Claim
from benchmarks.evidence.outcome import worst
from benchmarks.evidence.plots import Plot, lines_of
from benchmarks.evidence.workload import Case, Pace, Workload
from benchmarks.runtime.results import Spread, typical_time

if TYPE_CHECKING:
    from benchmarks.evidence.outcome import Outcome
    from benchmarks.evidence.workload import Effort
    from benchmarks.runtime.job import Measurement

ROLLOUTS, STEPS, ROUNDS = 16, 100, 500
BATCHES = (500, 1_000, 2_000)
EFFORTS: dict[int, tuple[Effort, ...]] = {
    500: ("smoke", "quick", "full"),
    1_000: ("full",),
    2_000: ("quick", "full"),
}
BELOW_RAY = 60
FLAT = 1.1
"""How much longer a round may take with the largest batch, the update apart."""
ENGINES = {
    "ours-ft": "q_learning.ours",
    "ours-gil": "q_learning.ours",
    "free": "q_learning.free",
    "plain": "q_learning.plain",
    "plain-ft": "q_learning.plain",
    "ray-actors": "q_learning.ray_actors",
    "ray-cgraph": "q_learning.ray_cgraph",
    "mp-pipes": "q_learning.mp_pipes",
}
ABOUT = f"""\
Synchronised parallel Q-learning on Blackjack, as in the paper: in a round each of
{ROLLOUTS} rollouts plays {STEPS} steps with the latest weights (one step in ten is
random), the steps go to a replay buffer of 20,000, a batch of these to one update of
a network 3-32-2 (Adam, rate 0.01, gamma 0.99), whose target is copied every tenth
round. All engines do the same updates with the same NumPy code: final weights are
compared bit by bit. Where the paper takes the oldest steps of the buffer, the batch is
drawn at random, with the same seed in every engine; nothing is printed or saved. The
limit is what the rollouts alone take when two threads play them and never meet, with
the weights that the same training had in each round. The time is that of a round, from
a training of {ROUNDS} rounds (fewer in quick runs).
"""


def _case(batch: int) -> Case:
    return Case(
        name=str(batch),
        title=f"batch of {batch:,}",
        params={"rollouts": ROLLOUTS, "steps": STEPS, "batch": batch},
        efforts=EFFORTS[batch],
        line="batch",
        modules=("gymnasium",),
        x=batch,
    )


def _below_ray(outcome: Outcome, case: str) -> Spread | None:
    ratio = outcome.ratio("ours-ft", "ray-actors", case)
    if ratio is None:
        return None
    return Spread(tuple(100 * (1 - value) for value in ratio.values))


def _without_update(measurement: Measurement) -> float:
    update: Any = measurement.more["update_seconds"]
    return typical_time(measurement) - float(update)


def _claims(outcome: Outcome) -> list[Claim]:
    least, *_, most = map(str, BATCHES)
    flat = outcome.ratio(
        "ours-ft", "ours-ft", most, under_case=least, number=_without_update
    )
    return [
        Claim(
            "q-learning-ray",
            "Q-learning: time of ours below that of Ray actors, worst batch size",
            worst(
                [_below_ray(outcome, case.name) for case in outcome.cases()],
                at_most=False,
            ),
            BELOW_RAY,
            unit=" %",
        ),
        Claim(
            "q-learning-flat",
            f"Q-learning: time of a round without the update, batch of {most} over "
            f"batch of {least}",
            flat,
            FLAT,
            at_most=True,
        ),
    ]


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        Plot(
            name="q-learning",
            title="A round of Q-learning, against the size of a batch",
            x_label="steps in a batch",
            y_label="seconds per round",
            lines=lines_of(outcome, "batch"),
            log_y=False,
        )
    ]


WORKLOAD = Workload(
    name="q_learning",
    title="Parallel Q-learning",
    about=ABOUT,
    cases=tuple(map(_case, BATCHES)),
    engines=ENGINES,
    absent={
        "ours-process": "process placement is for environments of a vector; here "
        "rollouts are reactors.",
    },
    params={"smoke": {"rollouts": 2, "steps": 10, "batch": 16}},
    pace={
        "smoke": Pace(compared=1, whole=12),
        "quick": Pace(compared=5, whole=10),
        "full": Pace(compared=5, sets=3, whole=ROUNDS),
    },
    claims=_claims,
    plots=_plots,
)
