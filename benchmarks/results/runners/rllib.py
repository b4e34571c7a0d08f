# SPDX-License-Identifier: Apache-2.0
"""RLlib, with its current interface (RLModule, Learner, EnvRunner)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.results.referee import Referee


def run(request: dict[str, Any], referee: Referee) -> dict[str, Any]:
    """Train until the referee ends it."""
    import logging

    import ray
    from ray.rllib.connectors.env_to_module import MeanStdFilter
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    name, task = request["algorithm"], request["task"]
    settings = dict(request["settings"])
    total = task["total"] or settings["total_timesteps"]
    del settings["total_timesteps"]
    ray.init(address="local", include_dashboard=False, logging_level=logging.ERROR)
    module = import_module(f"ray.rllib.algorithms.{name}")
    config = getattr(module, f"{name.upper()}Config")()
    config.environment(task["env_id"]).debugging(
        seed=request["seed"], log_level="ERROR"
    )
    config.env_runners(
        num_env_runners=settings.pop("num_env_runners", 0),
        num_envs_per_env_runner=settings.pop("num_envs_per_env_runner", 1),
    )
    if settings.pop("mean_std_filter", False):
        config.env_runners(env_to_module_connector=lambda *_a, **_k: MeanStdFilter())
    # Its own evaluation: it alone knows how to apply its connectors. Without an
    # interval there would be no environments for it.
    config.evaluation(
        evaluation_interval=1_000_000_000,
        evaluation_num_env_runners=0,
        evaluation_duration=task["episodes"],
        evaluation_duration_unit="episodes",
        evaluation_config={"explore": False},
    )
    model = settings.pop("model", {})
    config.training(**settings)
    if model:
        config.rl_module(model_config=DefaultModelConfig(**model))
    algorithm = config.build_algo()

    def play(_episodes: int, _seed: int) -> list[float]:
        found = algorithm.evaluate()
        return [float(found["env_runners"]["episode_return_mean"])]

    steps = 0
    while steps < total:
        found = algorithm.train()
        steps = int(found["num_env_steps_sampled_lifetime"])
        if referee.due(steps) and referee.evaluate(steps, play):
            break
    if referee.steps < steps:
        referee.evaluate(steps, play)
    algorithm.stop()
    ray.shutdown()
    return {}
