# SPDX-License-Identifier: Apache-2.0
"""What is stepped: cheap environments, costly ones in Python, and an emulator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from benchmarks.runtime.spin import spin

if TYPE_CHECKING:
    from collections.abc import Callable

CARTPOLE, BUSY, PONG = "cartpole", "busy", "pong"
BUSY_US = 300


class Busy(gym.Env[Any, Any]):
    """Does so many turns of a loop in each step, in Python."""

    observation_space = gym.spaces.Box(0, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self._at = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin anew."""
        super().reset(seed=seed, options=options)
        self._at = seed or 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Work for a while."""
        self._at = spin(self._turns, self._at + int(action)) % 1_000
        return self._observation(), float(self._at), False, False, {}

    def _observation(self) -> Any:  # noqa: ANN401
        return np.full(4, self._at / 1_000, np.float32)


def _make(env_id: str) -> gym.Env[Any, Any]:
    if env_id.startswith("ALE/"):
        import ale_py

        gym.register_envs(ale_py)
    return gym.make(env_id)


def maker(workload: str, loops_per_us: float) -> Callable[[], gym.Env[Any, Any]]:
    """Return what makes one environment of a workload."""
    if workload == BUSY:
        return partial(Busy, round(BUSY_US * loops_per_us))
    return partial(_make, {CARTPOLE: "CartPole-v1", PONG: "ALE/Pong-v5"}[workload])
