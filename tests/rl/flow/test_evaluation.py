# SPDX-License-Identifier: Apache-2.0
"""Evaluation during training: which weights it uses, and which episodes count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np

from reactorl.rl import ActOutput, Algorithm, Flow
from tests.rl.contract.tasks import DQN_TASK
from tests.rl.trained import lasting, trained


class Paid(gym.Env[Any, Any]):
    """Rewards are the actions; the length of an episode depends on the seed."""

    observation_space = gym.spaces.Box(0, 1, (1,), np.float32)
    action_space = gym.spaces.Box(0, 1_000, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.length = 1 if seed % 2 else 9
        self.turn = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.turn += 1
        over = self.turn >= self.length
        return np.zeros(1, np.float32), float(action[0]), over, False, {}


@dataclass(frozen=True, kw_only=True)
class Counter(Algorithm):
    """Its weights are the number of updates, and it acts with that number."""

    name = "Counter"

    def check_spaces(self, spaces: Any) -> None: ...

    def init(self, spaces: Any, seed: int) -> Any:
        return np.float32(0)

    def weights(self, state: Any) -> Any:
        return state

    def act(self, weights: Any, inputs: Any, random: Any, progress: Any) -> Any:
        return self.act_greedy(weights, inputs)

    def act_greedy(self, weights: Any, inputs: Any) -> Any:
        return ActOutput(np.full((len(inputs.observations), 1), weights, np.float32))

    def update(self, state: Any, batches: Any) -> Any:
        return state + np.float32(1), {"losses/count": float(state)}, None

    def serialize(self, state: Any) -> Any:
        return float(state)

    def deserialize(self, like: Any, data: Any) -> Any:
        return np.float32(data)


TASK = Flow(
    Paid,
    Counter(num_envs=2, num_steps=2, total_timesteps=80),
    rollouts=1,
    eval_every=8,
    eval_episodes=4,
    seed=1,
)


def test_all_episodes_of_an_evaluation_use_the_weights_of_its_start() -> None:
    _, iterations = trained(TASK)

    found = [r.evaluation for r in iterations if r.evaluation is not None]
    assert len(found) >= 2
    for evaluation in found:
        # In iteration k rollouts and evaluation have the weights of k - 1 updates.
        weights = evaluation.iteration - 1
        rewards = {e.episode_return / e.length for e in evaluation.episodes}
        assert rewards == {weights}


def test_every_environment_contributes_the_same_number_of_episodes() -> None:
    _, iterations = trained(TASK)

    evaluation = next(r.evaluation for r in iterations if r.evaluation is not None)
    # Seeds of the two environments are even and odd: episodes of 9 and of 1 step.
    assert sorted(e.length for e in evaluation.episodes) == [1, 1, 9, 9]


def test_evaluation_changes_no_weights() -> None:
    task = lasting(DQN_TASK, 40)
    weights, iterations = trained(task)
    assert trained(replace(task, eval_every=0))[0] == weights
    found = [r.evaluation for r in iterations if r.evaluation is not None]
    assert found
    assert all(len(e.episodes) == 4 for e in found)
    assert found[0].iteration == 3
