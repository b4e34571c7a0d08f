# SPDX-License-Identifier: Apache-2.0
"""A federate for each node; the first one learns as well."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.workloads.cluster_sleep import HIDDEN, STEPS
from benchmarks.workloads.cluster_sleep.sleepy import Sleepy
from benchmarks.workloads.cluster_train.weights import Weights
from reactorl.rl import PPO, Flow

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

FOREVER = 10**9


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    nodes = params["nodes"]
    algorithm = PPO(
        total_timesteps=FOREVER * nodes * STEPS,
        num_envs=nodes,
        num_steps=STEPS,
        hidden=HIDDEN,
        anneal_lr=False,
        reward_scale=1.0,
        num_minibatches=1,
        update_epochs=1,
    )
    flow = Flow(
        partial(Sleepy, {"sleep": params["sleep"]}),
        algorithm,
        rollouts=nodes,
        eval_every=0,
        placement="thread",
    )
    federation = nodes if nodes > 1 else None
    with flow.start(workers=1, federation=federation) as training:
        weights = Weights(training)
        training.step()
        while watch.tick(weights):
            training.step()
