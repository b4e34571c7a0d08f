# SPDX-License-Identifier: Apache-2.0
"""Environments with work in Python, one of which is much slower at times."""

from __future__ import annotations

from typing import Any

from benchmarks.workloads.gym.busy import Busy
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


class Straggler(Busy):
    """A busy environment; the one with the first seed is much slower at times."""

    def __init__(self) -> None:
        super().__init__(TURNS)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._straggles = seed == SEED
        return super().reset(seed=seed, options=options)

    def turns(self) -> int:
        slow = self._straggles and self._steps % EVERY == 0
        return TURNS * SLOWER if slow else TURNS


def make_flow(lag: int) -> Flow:
    """Return the training flow, without end: a rollout for each environment."""
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
        Straggler,
        algorithm,
        rollouts=NUM_ENVS,
        eval_every=0,
        placement="thread",
        seed=SEED,
    )
