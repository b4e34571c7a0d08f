# SPDX-License-Identifier: Apache-2.0
"""Parallel Q-learning: 16 rollouts, a replay buffer, one update a round."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchmarks.engines import engine_named
from benchmarks.harness.claims import Claim
from benchmarks.harness.outcome import job_of, worst
from benchmarks.harness.plots import Plot, lines_of
from benchmarks.harness.results import Spread, typical_time
from benchmarks.harness.tables import table, time_text
from benchmarks.harness.workload import Case, Pace, Workload

if TYPE_CHECKING:
    from benchmarks.harness.measurement import Measurement
    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.workload import Effort

ROLLOUTS, STEPS, ROUNDS = 16, 100, 500
BATCHES = (500, 1_000, 2_000)
EFFORTS: dict[int, tuple[Effort, ...]] = {
    500: ("smoke", "quick", "full"),
    1_000: ("full",),
    2_000: ("quick", "full"),
}
BELOW_RAY = 60
FLAT = 1.1
"""Bound of a round with the largest batch over the smallest, without the update."""
BOUND_ENGINE = "free"
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
upper bound (no synchronization) is two threads that only play the rollouts, with the
weights that the same training had in each round. A training of {ROUNDS} rounds (fewer
in quick runs) is timed in slices, in which engines take turns.
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


def _times_of_bound(outcome: Outcome, batch: int) -> dict[int, float]:
    """Return a round without the update over one of the upper bound, by set."""
    name = WORKLOAD.name
    ours = outcome.results.of(job_of(name, str(batch), "ours-ft"))
    bound = outcome.results.of(job_of(name, str(batch), BOUND_ENGINE))
    return {
        number: _without_update(ours[number]) / typical_time(bound[number])
        for number in ours
        if number in bound
    }


def _flatness(outcome: Outcome) -> Spread | None:
    """Return how much longer a round takes with the largest batch, by set.

    Batch sizes are measured minutes apart, and the learned policy determines how many
    cards are drawn. The upper bound took turns with ours, with the same cards, so that
    the ratio to it is the cost of the batch.
    """
    least, most = (_times_of_bound(outcome, b) for b in (BATCHES[0], BATCHES[-1]))
    ratios = tuple(most[number] / least[number] for number in most if number in least)
    return Spread(ratios) if ratios else None


def _claims(outcome: Outcome) -> list[Claim]:
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
            "Q-learning: time of a round without the update over the upper bound (no "
            f"synchronization), batch of {BATCHES[-1]} over batch of {BATCHES[0]}",
            _flatness(outcome),
            FLAT,
            at_most=True,
        ),
    ]


def _notes(outcome: Outcome) -> list[str]:
    rounds = WORKLOAD.pace[outcome.effort].whole
    assert rounds is not None

    def training(measurement: Measurement) -> float:
        return fmean(measurement.seconds) * rounds

    def cell(case: Case, engine: str) -> str:
        time = outcome.time(case.name, engine, training)
        return time_text(time) if time else ""

    cases = outcome.cases()
    rows = [
        (engine_named(engine).title, *(cell(case, engine) for case in cases))
        for engine in WORKLOAD.engines
        if any(engine in outcome.engines(case.name) for case in cases)
    ]
    if not rows:
        return []
    head = (f"all {rounds} rounds", *(case.title for case in cases))
    text = "Whole trainings, disturbed slices included:\n\n"
    return [text + table(head, rows, numbers=range(1, len(head)))]


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
        "smoke": Pace(compared=1, slices=3, whole=12),
        "quick": Pace(compared=5, slices=5, whole=10),
        "full": Pace(compared=5, sets=3, slices=25, whole=ROUNDS),
    },
    claims=_claims,
    plots=_plots,
    notes=_notes,
)
