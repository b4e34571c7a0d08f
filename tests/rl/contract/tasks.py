# SPDX-License-Identifier: Apache-2.0
"""Small tasks of every algorithm, for the contract that all of them keep."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from reactorl.rl import DQN, IMPALA, IPPO, PPO, SAC, TD3, QLearning
from tests.rl.games import Auction
from tests.rl.meeting import Meeting
from tests.rl.trained import tuned


class Alike(Auction):
    """All agents have the same actions, so that one compilation serves all."""

    def action_space(self, agent: str) -> Any:
        return self._actions["bidder_0"]


class Lopsided(gym.Env[Any, Any]):
    """Actions of two components with other bounds each; short episodes end by both."""

    observation_space = gym.spaces.Box(-9, 9, (3,), np.float64)
    action_space = gym.spaces.Box(
        np.array([-1.1, 2.0]), np.array([0.1, 7.0]), dtype=np.float64
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin an episode."""
        super().reset(seed=seed)
        self.place = self.np_random.normal(size=3)
        self.steps = 0
        return self.place.copy(), {}

    def step(self, action: Any) -> Any:
        """Move by the action; the reward is the distance from the origin."""
        assert self.action_space.contains(action), action
        self.steps += 1
        self.place[:2] += action - (0.0, 4.0)
        distance = float(np.abs(self.place).sum())
        return self.place.copy(), -distance, distance > 9, self.steps == 7, {}


class Pixels(gym.Env[Any, Any]):
    """Small images, the brightness of which follows the actions."""

    observation_space = gym.spaces.Box(0, 255, (6, 6, 2), np.uint8)

    def __init__(self, action_space: Any) -> None:
        self.action_space = action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin an episode."""
        super().reset(seed=seed)
        self.steps = 0
        return self._image(0.0), {}

    def step(self, action: Any) -> Any:
        """Draw an image; the reward is the action."""
        self.steps += 1
        number = float(np.sum(action))
        return self._image(number), number, self.steps % 5 == 0, self.steps == 8, {}

    def _image(self, number: float) -> Any:
        drawn = self.np_random.integers(0, 200, (6, 6, 2))
        return (drawn + int(10 * abs(number))).astype(np.uint8)


class Glimpses(gym.Env[Any, Any]):
    """Shows a pixel for a moment; episodes end by termination and by truncation."""

    observation_space = gym.spaces.Box(0, 255, (6, 5, 2), np.uint8)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin an episode."""
        super().reset(seed=seed)
        self.steps = 0
        return self._image(), {}

    def step(self, action: Any) -> Any:
        """Reward the column of the pixel that was seen last."""
        self.steps += 1
        reward = float(action == self.column % 3)
        image = self._image()
        return image, reward, self.column == 4, self.steps == 7, {}

    def _image(self) -> Any:
        image = np.zeros((6, 5, 2), np.uint8)
        row, self.column = self.np_random.integers((6, 5))
        image[row, self.column] = 255
        return image


SMALL: Any = {"rollouts": 4, "eval_every": 144, "eval_episodes": 4}
DQN_TASK = DQN(
    num_envs=8,
    num_steps=6,
    total_timesteps=8 * 48,
    hidden=(16,),
    buffer_size=500,
    batch_size=8,
    learning_starts=60,
    train_frequency=24,
    target_network_frequency=72,
).task("CartPole-v1", **SMALL)
SERVER = replace(tuned(DQN_TASK, train_frequency=48), learners=2)
PPO_TASK = PPO(
    num_envs=8,
    num_steps=10,
    total_timesteps=6 * 80,
    hidden=(8,),
    num_minibatches=3,
    update_epochs=2,
).task("CartPole-v1", **SMALL)
RECURRENT = {"recurrent": "lstm", "recurrent_size": 6}
NORMALIZED = {"norm_obs": True, "norm_reward": True}
CONTINUOUS = {"norm_obs": True, "anneal_lr": False}
IMPALA_TASK = IMPALA(
    num_envs=8, num_steps=10, total_timesteps=7 * 80, hidden=(8,), num_minibatches=1
).task("CartPole-v1", **SMALL)
Q_TASK = QLearning(
    num_envs=8,
    num_steps=6,
    total_timesteps=8 * 48,
    learning_rate_decay=0.01,
    initial_value=1.0,
).task("FrozenLake-v1", **SMALL)
OFF_POLICY: Any = {
    "num_envs": 8,
    "num_steps": 6,
    "total_timesteps": 8 * 48,
    "hidden": (16,),
    "buffer_size": 500,
    "batch_size": 8,
    "learning_starts": 60,
    "train_frequency": 16,
}
SAC_TASK = SAC(**OFF_POLICY).task("Pendulum-v1", **SMALL)
TD3_TASK = TD3(**OFF_POLICY).task("Pendulum-v1", **SMALL)
IPPO_TASK = IPPO(
    num_envs=3,
    num_steps=6,
    total_timesteps=5 * 18,
    hidden=(8,),
    num_minibatches=2,
    update_epochs=2,
).task(Meeting, eval_every=36, eval_episodes=2)

TASKS: dict[str, dict[str, Any]] = {
    "dqn": {
        "synchronous": DQN_TASK,
        "lag 1": tuned(DQN_TASK, lag=1),
        "lag 3, prioritized": tuned(DQN_TASK, lag=3, priority=0.6),
        "dueling, 3 steps, lag 1": tuned(DQN_TASK, dueling=True, n_step=3, lag=1),
        "dueling, images": replace(
            tuned(DQN_TASK, dueling=True, buffer_size=130),
            env=partial(Pixels, gym.spaces.Discrete(3)),
        ),
        "normalized": tuned(DQN_TASK, norm_obs=True),
        "2 learners": SERVER,
        "3 learners, prioritized, lag 2": replace(
            tuned(SERVER, lag=2, priority=0.6), learners=3
        ),
    },
    "ppo": {
        "discrete": PPO_TASK,
        "discrete, lag 1": tuned(PPO_TASK, lag=1),
        "continuous, lag 3": replace(
            tuned(PPO_TASK, lag=3, **CONTINUOUS), env="Pendulum-v1"
        ),
        "images": replace(tuned(PPO_TASK, num_minibatches=2), env=Glimpses),
        "LSTM, separate, normalized, lag 1": tuned(
            PPO_TASK, lag=1, shared_trunk=False, **RECURRENT, **NORMALIZED
        ),
    },
    "impala": {
        "lag 0": tuned(IMPALA_TASK, lag=0),
        "lag 1": IMPALA_TASK,
        "continuous, lag 3": replace(
            tuned(IMPALA_TASK, lag=3, num_minibatches=2), env="Pendulum-v1"
        ),
        "images, GRU, normalized": replace(
            tuned(IMPALA_TASK, recurrent="gru", recurrent_size=6, **NORMALIZED),
            env=Glimpses,
        ),
    },
    "q-learning": {
        "synchronous": Q_TASK,
        "Blackjack, lag 2": replace(tuned(Q_TASK, lag=2), env="Blackjack-v1"),
    },
    "sac": {
        "synchronous": SAC_TASK,
        "lag 2, 3 steps, delayed policy, normalized": tuned(
            SAC_TASK,
            lag=2,
            n_step=3,
            policy_frequency=2,
            autotune=False,
            norm_obs=True,
        ),
        "persistent noise": replace(
            tuned(SAC_TASK, noise_persistence=0.8), env=Lopsided
        ),
    },
    "td3": {
        "synchronous": TD3_TASK,
        "lag 1, 2 updates, asymmetric bounds, normalized": replace(
            tuned(TD3_TASK, lag=1, gradient_steps=2, norm_obs=True), env=Lopsided
        ),
    },
    "ippo": {
        "fixed agents": IPPO_TASK,
        "agents that leave early": replace(IPPO_TASK, env=Alike),
        "LSTM, agents that leave early": replace(
            tuned(IPPO_TASK, **RECURRENT), env=Alike
        ),
    },
}
