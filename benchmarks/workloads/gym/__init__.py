# SPDX-License-Identifier: Apache-2.0
"""Gym: 15 environments, one step of each in a round, with random actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.claims import Claim
from benchmarks.harness.outcome import worst
from benchmarks.harness.plots import Plot, bars_of
from benchmarks.harness.workload import Case, Pace, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.harness.outcome import Outcome

ENVS = 15
CASES = {
    "CartPole-v1": {"actions": 2},
    "Blackjack-v1": {"actions": 2},
    "Pendulum-v1": {"bound": 2.0},
}
ENGINES = {
    "ours-ft": "gym.vectors",
    "ours-gil": "gym.vectors",
    "ours-process": "gym.vectors",
    "free": "gym.free",
    "free-process": "gym.free",
    "plain": "gym.plain",
    "plain-ft": "gym.plain",
    "gym-sync": "gym.vectors",
    "gym-sync-ft": "gym.vectors",
    "gym-async": "gym.vectors",
    "ray-actors": "gym.ray_actors",
    "ray-cgraph": "gym.ray_cgraph",
    "mp-pipes": "gym.mp_pipes",
    "envpool": "gym.envpool_",
}
INCOMPARABLE = {
    "envpool": "its environments are other programs, in C++, with random numbers of "
    "their own.",
}
ABOUT = f"""\
{ENVS} environments of Gymnasium, as in the paper; a round is a step of each, with
actions from a table that all engines share, and seeds that differ between environments.
An environment whose episode ended is reset by its next step. The upper bounds (no
synchronization) are two threads and two processes that step half of the environments
each; their observations are not gathered.
"""


def _case(env: str) -> Case:
    params: dict[str, Any] = {"env": env, "envs": ENVS, **CASES[env]}
    return Case(name=env, title=env, params=params, line="gym", modules=("gymnasium",))


def _units(params: Mapping[str, Any]) -> float:
    return float(params["envs"])


def _claims(outcome: Outcome) -> list[Claim]:
    def lowest(other: str) -> Any:  # noqa: ANN401
        ratios = [
            outcome.ratio(other, "ours-ft", case.name) for case in outcome.cases()
        ]
        return worst(ratios, at_most=False)

    return [
        Claim(
            f"gym-{other}",
            f"Gym, 15 environments: steps/s of ours (3.14t, 2 workers) over {what}, "
            "worst environment",
            lowest(other),
            bound,
        )
        for other, what, bound in (
            ("ray-actors", "Ray actors", 100),
            ("gym-async", "AsyncVectorEnv", 15),
            ("gym-sync", "SyncVectorEnv", 1.4),
            ("free", "the upper bound (no synchronization)", 0.85),
        )
    ]


def rate_plot(outcome: Outcome, name: str, title: str, line: str) -> Plot:
    """Return bars: the time of a step, by engine and case."""
    return Plot(
        name=name,
        title=title,
        x_label="",
        y_label="seconds per step of one environment",
        bars=bars_of(outcome, line),
    )


def _plots(outcome: Outcome) -> list[Plot]:
    return [rate_plot(outcome, "gym", f"{ENVS} environments in lock-step", "gym")]


WORKLOAD = Workload(
    name="gym",
    title="Gym environments",
    about=ABOUT,
    unit="step",
    rate="steps",
    units=_units,
    cases=tuple(map(_case, CASES)),
    engines=ENGINES,
    incomparable=INCOMPARABLE,
    absent={"ale-vector": "it has Atari games only."},
    params={"smoke": {"envs": 3}},
    pace={
        "smoke": Pace(compared=30, slices=2, seconds=0.001),
        "quick": Pace(compared=100, slices=8, seconds=0.02),
        "full": Pace(compared=1_000, sets=5, slices=40, seconds=0.03),
    },
    claims=_claims,
    plots=_plots,
)
