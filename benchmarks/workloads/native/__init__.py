# SPDX-License-Identifier: Apache-2.0
"""Native environments: steps of Gymnasium's environments in C++, beside EnvPool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.claims import Claim
from benchmarks.harness.outcome import worst
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads.runtime import on_both

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.harness.outcome import Outcome

ENVS: dict[str, dict[str, Any]] = {
    "CartPole-v1": {"actions": 2},
    "Blackjack-v1": {"actions": 2},
    "Pendulum-v1": {"bound": 2.0},
}
SMALL, LARGE = 15, 1_024
CLAIMS = (
    # number of environments, engine, engine it is compared with, least speed
    (SMALL, "native-1-gil", "envpool", 5),
    (SMALL, "native-1-ft", "envpool", 5),
    (SMALL, "native-1-gil", "gym-sync", 15),
    (SMALL, "native-1-ft", "gym-sync-ft", 15),
    (LARGE, "native-gil", "envpool", 10),
    (LARGE, "native-ft", "envpool", 10),
    (LARGE, "native-gil", "native-1-gil", 1.5),
    (LARGE, "native-ft", "native-1-ft", 1.5),
)


def _name(env: str, count: int) -> str:
    return f"{env.partition('-')[0].lower()}-{count}"


def _cases(count: int) -> list[Case]:
    return [
        Case(
            name=_name(env, count),
            title=f"{env}, {count:,} environments",
            params={"env": env, "envs": count, **params},
            modules=("gymnasium",),
        )
        for env, params in ENVS.items()
    ]


def _units(params: Mapping[str, Any]) -> float:
    return float(params["envs"])


def _claims(outcome: Outcome) -> list[Claim]:
    def lowest(count: int, engine: str, other: str) -> Any:  # noqa: ANN401
        names = [_name(env, count) for env in ENVS]
        ratios = [outcome.ratio(other, engine, name) for name in names]
        return worst(ratios, at_most=False)

    return [
        Claim(
            f"native-{count}-{engine}-{other}",
            f"{count:,} environments: steps/s of {engine} over {other}, worst of "
            "CartPole, Blackjack and Pendulum",
            lowest(count, engine, other),
            bound,
        )
        for count, engine, other, bound in CLAIMS
    ]


WORKLOAD = Workload(
    name="native",
    title="Native environments",
    about="A round is a step of all sub-environments through `VectorEnv.step`, with "
    "random actions of NumPy from a table that all engines share. `native-1` and "
    "`native` step Gymnasium's environments in C++, with 1 and 2 workers; their "
    "results are compared with those of `SyncVectorEnv`, bit by bit.",
    unit="step",
    rate="steps",
    units=_units,
    cases=[*_cases(SMALL), *_cases(LARGE)],
    engines={
        **dict.fromkeys(on_both("gym-sync", "native-1", "native"), "gym.vectors"),
        "envpool": "gym.envpool_",
    },
    incomparable={
        "envpool": "its environments are other programs, in C++, with random numbers "
        "of their own.",
    },
    baseline={"gil": "gym-sync", "ft": "gym-sync-ft"},
    params={"smoke": {"envs": 3}},
    pace=paces(Pace(compared=60, sets=5, slices=20, seconds=0.02)),
    claims=_claims,
)
