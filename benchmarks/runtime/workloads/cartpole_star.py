# SPDX-License-Identifier: Apache-2.0
"""CartPole star: each client steps an environment of its own."""

from __future__ import annotations

import random
from typing import Any

import gymnasium

from benchmarks.runtime.workloads.players import PlayerStar


class CartPole:
    """An environment with its own stream of actions; a new episode after each."""

    def __init__(self, index: int) -> None:
        self.environment = gymnasium.make("CartPole-v1")
        self.environment.reset(seed=index)
        self.actions = random.Random(index)

    def step(self) -> Any:  # noqa: ANN401
        step = self.environment.step(self.actions.getrandbits(1))
        observation, _reward, terminated, truncated, _info = step
        if terminated or truncated:
            observation, _info = self.environment.reset()
        return observation


def make(case: str, loops_per_us: float) -> PlayerStar:
    """Return a star with ``case`` CartPoles."""
    del loops_per_us
    return PlayerStar("cartpole_star", int(case), CartPole, compared_rounds=200)
