# SPDX-License-Identifier: Apache-2.0
"""Environments with native bodies, and what is done with them in tests."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl import VectorEnv

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "CartPole-v0": ("CartPole-v0", {}),
    "CartPole-v1": ("CartPole-v1", {}),
    "CartPole sutton_barto_reward": ("CartPole-v1", {"sutton_barto_reward": True}),
    "MountainCar-v0": ("MountainCar-v0", {}),
    "MountainCar goal_velocity": ("MountainCar-v0", {"goal_velocity": 0.01}),
    "MountainCarContinuous-v0": ("MountainCarContinuous-v0", {}),
    "MountainCarContinuous goal_velocity": (
        "MountainCarContinuous-v0",
        {"goal_velocity": 0.02},
    ),
    "Pendulum-v1": ("Pendulum-v1", {}),
    "Pendulum g": ("Pendulum-v1", {"g": 9.81}),
    "Pendulum whole g": ("Pendulum-v1", {"g": 7}),
    "Acrobot-v1": ("Acrobot-v1", {}),
    "Blackjack-v1": ("Blackjack-v1", {}),
    "Blackjack natural": ("Blackjack-v1", {"natural": True, "sab": False}),
    "Blackjack plain": ("Blackjack-v1", {"natural": False, "sab": False}),
    "FrozenLake-v1": ("FrozenLake-v1", {}),
    "FrozenLake8x8-v1": ("FrozenLake8x8-v1", {}),
    "FrozenLake not slippery": ("FrozenLake-v1", {"is_slippery": False}),
    "FrozenLake rewards": (
        "FrozenLake-v1",
        {"success_rate": 0.7, "reward_schedule": (2.5, -1, 0.25)},
    ),
    "FrozenLake map": ("FrozenLake-v1", {"desc": ["SFS", "FHF", "SFG"]}),
    "CliffWalking-v1": ("CliffWalking-v1", {}),
    "CliffWalkingSlippery-v1": ("CliffWalkingSlippery-v1", {}),
    "Taxi-v4": ("Taxi-v4", {}),
    "Taxi rain": ("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.6}),
    "Taxi fickle": (
        "Taxi-v4",
        {"fickle_passenger": True, "fickle_probability": 0.9},
    ),
}
"""Ids and keyword arguments."""

STATE = (
    "state",
    "steps_beyond_terminated",
    "last_u",
    "player",
    "dealer",
    "dealer_top_card_suit",
    "dealer_top_card_value_str",
    "s",
    "lastaction",
    "fickle_step",
    "taxi_orientation",
)
"""Attributes in which Gymnasium's environments keep their state."""


def makers(
    case: str, count: int, limit: int | None = None
) -> list[Callable[[], gym.Env[Any, Any]]]:
    """Return functions that make environments, as ``SyncVectorEnv`` needs them."""
    env_id, kwargs = CASES[case]
    return [partial(gym.make, env_id, max_episode_steps=limit, **kwargs)] * count


def kept_state(env: Any) -> dict[str, Any]:
    """Return the state of an environment, with its generator and its time limit."""
    core = env.unwrapped
    found = {name: vars(core)[name] for name in STATE if name in vars(core)}
    found["random"] = core.np_random.bit_generator.state
    while env is not core:
        for name in ("_elapsed_steps", "_has_reset", "checked_step"):
            if name in vars(env):
                found[name] = vars(env)[name]
        env = env.env
    return found


def live(envs: VectorEnv) -> int:
    """Return how many environments have their state in native code."""
    backend: Any = envs._backend
    return sum(shard._native.live for shard in backend._shards if shard._native)


def sampled(envs: Any, steps: int, seed: int = 0) -> list[Any]:
    """Return actions for steps."""
    envs.action_space.seed(seed)
    return [np.array(envs.action_space.sample()) for _ in range(steps)]
