# SPDX-License-Identifier: Apache-2.0
"""Environments that work in Python, one of which is at times much slower."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.runtime.spin import spin
from reactorl.rl import DQN, Flow

SEED = 1
NUM_ENVS = 16
STEPS = 50
TURNS = 2_000
"""Of a loop in a step: about 0.2 ms."""
SLOWER, EVERY = 20, 50
"""The first environment takes 20 times as long in every 50th step."""
BATCH, UPDATES = 128, 400
"""Learning then takes half as long as collecting: 90 and 190 ms, on one worker."""
FOREVER = 10**9


class Busy(gym.Env[Any, Any]):
    """Does so many turns of a loop in each step; the one with the first seed, more."""

    observation_space = gym.spaces.Box(0, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin anew."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._straggles = seed == SEED
        self._steps = 0
        self._at = seed or 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Work for a while, or for a long while."""
        self._steps += 1
        slow = self._straggles and self._steps % EVERY == 0
        turns = TURNS * SLOWER if slow else TURNS
        self._at = spin(turns, self._at + int(action)) % 1_000
        return self._observation(), float(self._at), False, False, {}

    def _observation(self) -> Any:  # noqa: ANN401
        return np.full(4, self._at / 1_000, np.float32)


def make_flow(lag: int) -> Flow:
    """Return the flow, without end: a rollout for each environment."""
    steps_per_update = NUM_ENVS * STEPS / UPDATES
    algorithm = DQN(
        total_timesteps=FOREVER * NUM_ENVS * STEPS,
        num_envs=NUM_ENVS,
        num_steps=STEPS,
        lag=lag,
        hidden=(120, 84),
        anneal_lr=False,
        buffer_size=10_000,
        batch_size=BATCH,
        learning_starts=BATCH,
        train_frequency=steps_per_update,
        target_network_frequency=round(128 * steps_per_update),
    )
    return Flow(
        Busy,
        algorithm,
        rollouts=NUM_ENVS,
        eval_every=0,
        placement="thread",
        seed=SEED,
    )
