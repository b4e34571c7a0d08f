# SPDX-License-Identifier: Apache-2.0
"""PPO and IMPALA with RLlib's EnvRunners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.rllib_algorithm import configured, train
from benchmarks.workloads.cluster_train import BATCH, ENVS, HIDDEN, RUNNERS, STEPS

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    config = configured(
        params["algorithm"],
        "CartPole-v1",
        runners=RUNNERS,
        envs_per_runner=ENVS // RUNNERS,
        steps=STEPS,
        batch=BATCH,
        hidden=HIDDEN,
    )
    train(config, BATCH, watch)
