# SPDX-License-Identifier: Apache-2.0
"""Stable-Baselines3, and SBX, which has the same interface."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchmarks.results.referee import played

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.results.referee import Referee

NOT_IN_SBX = ("use_sde", "sde_sample_freq")
NETWORK_NOT_IN_SBX = ("log_std_init", "ortho_init", "use_expln")


def run(request: dict[str, Any], referee: Referee) -> dict[str, Any]:
    """Train until the referee ends it."""
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    library = request["options"]["library"]
    cls = getattr(import_module(library), request["algorithm"].upper())
    settings = dict(request["settings"])
    env_id, seed = request["task"]["env_id"], request["seed"]
    total = request["task"]["total"] or int(settings.pop("n_timesteps"))
    settings.pop("n_timesteps", None)
    env = make_vec_env(env_id, n_envs=settings.pop("n_envs", 1), seed=seed)
    normalized = settings.pop("normalize", False)
    if normalized:
        env = VecNormalize(env, gamma=settings.get("gamma", 0.99))
    _complete(settings, library, cls, env)
    policy = settings.pop("policy", "MlpPolicy")
    model = cls(policy, env, seed=seed, verbose=0, **settings)

    def act(observations: Any) -> Any:  # noqa: ANN401
        if normalized:
            observations = env.normalize_obs(observations)
        return model.predict(observations, deterministic=True)[0]

    def play(episodes: int, first: int) -> list[float]:
        return played(env_id, act, episodes, first)

    class Evaluation(BaseCallback):
        def _on_step(self) -> bool:
            steps = self.num_timesteps
            return not (referee.due(steps) and referee.evaluate(steps, play))

    model.learn(total_timesteps=total, callback=Evaluation())
    if referee.steps < model.num_timesteps:
        referee.evaluate(model.num_timesteps, play)
    return {}


def _complete(settings: dict[str, Any], library: str, cls: type, env: Any) -> None:  # noqa: ANN401
    """Replace what a table of settings cannot express by what the library takes."""
    for name in ("learning_rate", "clip_range"):
        value = settings.get(name)
        if isinstance(value, str):
            settings[name] = _linear(float(value.removeprefix("lin_")))
    network = dict(settings.pop("network", {}))
    noise = settings.pop("noise_std", None)
    if noise is not None:
        import numpy as np
        from stable_baselines3.common.noise import NormalActionNoise

        count = env.action_space.shape[0]
        settings["action_noise"] = NormalActionNoise(
            np.zeros(count), np.full(count, noise)
        )
    if library == "sbx":
        for name in NOT_IN_SBX:
            settings.pop(name, None)
        for name in NETWORK_NOT_IN_SBX:
            network.pop(name, None)
    elif "activation" in network:
        from torch import nn

        network["activation_fn"] = getattr(nn, network.pop("activation"))
    network.pop("activation", None)
    if network:
        settings["policy_kwargs"] = network


def _linear(initial: float) -> Callable[[float], float]:
    """Return a schedule that goes to 0; its argument goes from 1 to 0."""
    return lambda left: initial * left
