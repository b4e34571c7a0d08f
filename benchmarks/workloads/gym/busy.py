# SPDX-License-Identifier: Apache-2.0
"""An environment whose step is a busy loop in Python, with the GIL held."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.harness.spin import spin


class Busy(gym.Env[Any, Any]):
    """Does a number of turns of a loop in each step.

    Args:
        turns: The number of turns.
        episode: Steps in an episode; None: no end.
    """

    observation_space = gym.spaces.Box(0, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, turns: int, episode: int | None = None) -> None:
        self._turns = turns
        self._episode = episode
        self._at = self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._at, self._steps = seed or 0, 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        self._steps += 1
        self._at = spin(self.turns(), self._at + int(action)) % 1_000
        truncated = self._steps == self._episode
        return self._observation(), float(self._at), False, truncated, {}

    def turns(self) -> int:
        """Return the number of turns of this step."""
        return self._turns

    def _observation(self) -> Any:  # noqa: ANN401
        return np.full(4, self._at / 1_000, np.float32)
