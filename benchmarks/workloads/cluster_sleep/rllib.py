# SPDX-License-Identifier: Apache-2.0
"""An EnvRunner actor for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.rllib_algorithm import configured, train
from benchmarks.workloads.cluster_sleep import HIDDEN, STEPS
from benchmarks.workloads.cluster_sleep.sleepy import Sleepy

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    nodes = params["nodes"]
    config = configured(
        "ppo",
        Sleepy,
        runners=nodes,
        envs_per_runner=1,
        steps=STEPS,
        batch=nodes * STEPS,
        hidden=HIDDEN,
    )
    config.environment(env_config={"sleep": params["sleep"]})
    config.training(minibatch_size=nodes * STEPS, num_epochs=1)
    train(config, nodes * STEPS, watch)
