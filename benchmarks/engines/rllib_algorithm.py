# SPDX-License-Identifier: Apache-2.0
"""Algorithms of RLlib on a Ray cluster of this machine; see also ``ray_cluster``."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from benchmarks.harness.child import closing

if TYPE_CHECKING:
    from collections.abc import Sequence


def configured(
    name: str,
    env: Any,  # noqa: ANN401
    *,
    runners: int,
    envs_per_runner: int,
    steps: int,
    batch: int,
    hidden: Sequence[int],
) -> Any:  # noqa: ANN401
    """Return the configuration of an algorithm, with the settings of our defaults.

    Args:
        name: ``ppo`` or ``impala``.
        env: An id, or a class.
        runners: Number of EnvRunner actors.
        envs_per_runner: Environments of each.
        steps: Of each environment in a fragment.
        batch: Steps of a batch.
        hidden: Sizes of the hidden layers.
    """
    from ray.rllib.algorithms.impala import IMPALAConfig
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    config: Any = PPOConfig() if name == "ppo" else IMPALAConfig()
    config.environment(env).debugging(seed=1, log_level="ERROR")
    config.env_runners(
        num_env_runners=runners,
        num_envs_per_env_runner=envs_per_runner,
        rollout_fragment_length=steps,
    )
    config.training(
        lr=1e-3,
        gamma=0.99,
        grad_clip=0.5,
        train_batch_size_per_learner=batch,
        vf_loss_coeff=0.5,
    )
    if name == "ppo":
        config.training(
            minibatch_size=max(1, batch // 4),
            num_epochs=4,
            lambda_=0.95,
            clip_param=0.2,
            entropy_coeff=0.01,
            use_kl_loss=False,
        )
    else:
        config.training(entropy_coeff=0.001)
    config.reporting(min_time_s_per_iteration=0, min_sample_timesteps_per_iteration=0)
    config.rl_module(
        model_config=DefaultModelConfig(
            fcnet_hiddens=list(hidden),
            fcnet_activation="tanh",
            vf_share_layers=False,
        )
    )
    return config


def train(config: Any, batch: int, watch: Any) -> None:  # noqa: ANN401
    """Train until the watch has enough slices; a round is a batch of sampled steps."""
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Actors only need a CPU to be placed: there may be more of them than CPUs.
    ray.init(
        address="local",  # never a cluster that happens to run here
        num_cpus=32,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        object_store_memory=200 << 20,
    )
    closing.callback(ray.shutdown)
    algorithm = config.build_algo()
    closing.callback(algorithm.stop)
    done = 0
    while True:
        found = algorithm.train()
        steps = int(found["num_env_steps_sampled_lifetime"])
        while done + batch <= steps:
            done += batch
            if not watch.tick():
                return
