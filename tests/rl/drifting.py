# SPDX-License-Identifier: Apache-2.0
"""An environment whose state cannot be read, and that depends on the clock."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
from gymnasium import spaces


class Drifting(gym.Env[Any, Any]):
    """Its observations are digits of the clock; it holds an object of an extension."""

    observation_space = spaces.Discrete(100_000)
    action_space = spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.handle = iter(())  # cannot be read
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observe(), 1.0, False, False, {}

    def observe(self) -> int:
        return time.perf_counter_ns() % 100_000
