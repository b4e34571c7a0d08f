# SPDX-License-Identifier: Apache-2.0
"""Environments whose episodes are short, one way or another."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Lazy(gym.Env[Any, Any]):
    """Fails in its third step."""

    observation_space = spaces.Box(-1, 1, (2,))
    action_space = spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.turn = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.turn += 1
        if self.turn == 3:
            msg = "tired"
            raise RuntimeError(msg)
        return np.full(2, self.turn / 9, np.float32), 1.0, False, False, {}


def short_cart_pole() -> gym.Env[Any, Any]:
    """Return a CartPole that is truncated as often as it falls."""
    return gym.make("CartPole-v1", max_episode_steps=20)
