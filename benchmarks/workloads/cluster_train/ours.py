# SPDX-License-Identifier: Apache-2.0
"""PPO and IMPALA in one process, or in several federates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.cluster_train import ENVS, HIDDEN, RUNNERS, STEPS
from benchmarks.workloads.cluster_train.weights import Weights
from reactorl.rl import IMPALA, PPO, Flow

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

FOREVER = 10**9


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    shared: dict[str, Any] = {
        "total_timesteps": FOREVER * ENVS * STEPS,
        "num_envs": ENVS,
        "num_steps": STEPS,
        "hidden": HIDDEN,
        "activation": "tanh",
        "shared_trunk": False,
        "anneal_lr": False,
        "reward_scale": 1.0,
    }
    algorithm = (
        PPO(**shared, num_minibatches=4, update_epochs=4)
        if params["algorithm"] == "ppo"
        else IMPALA(**shared, num_minibatches=1, lag=1)
    )
    # RLlib steps environments in Python, so these do, too.
    flow = Flow(
        "CartPole-v1",
        algorithm,
        rollouts=RUNNERS,
        eval_every=0,
        native=False,
        placement="thread",
    )
    federates = engine.options.get("federates")
    with flow.start(workers=1, federation=federates) as training:
        weights = Weights(training)
        training.step()
        while watch.tick(weights):
            training.step()
