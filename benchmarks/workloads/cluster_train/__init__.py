# SPDX-License-Identifier: Apache-2.0
"""PPO and IMPALA in two processes: federates beside RLlib's EnvRunners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

ENVS, STEPS, RUNNERS = 16, 64, 2
BATCH = ENVS * STEPS
HIDDEN = (64, 64)
PPO, IMPALA = "ppo", "impala"


def _claims(outcome: Outcome) -> list[Claim]:
    return [
        Claim(
            f"cluster-{case}",
            f"{case.upper()} on CartPole: steps/s of {RUNNERS} federates over RLlib "
            f"with {RUNNERS} EnvRunners",
            outcome.ratio("rllib", "federates", case),
            2.0,
        )
        for case in (PPO, IMPALA)
    ]


WORKLOAD = Workload(
    name="cluster_train",
    title="Federates beside RLlib",
    about=f"PPO and IMPALA on {ENVS} CartPoles in Python, {BATCH} steps per batch, two "
    "hidden layers of 64 for each of actor and critic; PPO with 4 epochs of 4 "
    f"minibatches, IMPALA with one. `federates` has {RUNNERS} processes, one of which "
    f"learns as well; RLlib has {RUNNERS} EnvRunner actors and learns in the driver. A "
    "round is a batch. RLlib's IMPALA decides by itself when it learns; its steps are "
    "those that it has sampled.",
    unit="step",
    rate="steps",
    units=lambda params: float(BATCH),
    cases=[
        Case(name, name.upper(), {"algorithm": name}, modules=())
        for name in (PPO, IMPALA)
    ],
    engines={
        "ours-gil": "cluster_train.ours",
        "federates": "cluster_train.ours",
        "rllib": "cluster_train.rllib",
    },
    incomparable={"rllib": "it has other random numbers, and another framework."},
    baseline={"gil": "rllib", "ft": "rllib"},
    own_process=True,
    pace=paces(Pace(compared=2, sets=5, slices=10, seconds=1.0)),
    claims=_claims,
)
