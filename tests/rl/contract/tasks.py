# SPDX-License-Identifier: Apache-2.0
"""Small tasks of every algorithm, for the contract that all of them keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reactorl.rl import DQN, IMPALA, IPPO, PPO, QLearning
from tests.rl.games import Auction
from tests.rl.meeting import Meeting
from tests.rl.trained import tuned


class Alike(Auction):
    """All agents have the same actions, so that one compilation serves all."""

    def action_space(self, agent: str) -> Any:
        return self._actions["bidder_0"]


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
    },
    "impala": {
        "lag 0": tuned(IMPALA_TASK, lag=0),
        "lag 1": IMPALA_TASK,
        "continuous, lag 3": replace(
            tuned(IMPALA_TASK, lag=3, num_minibatches=2), env="Pendulum-v1"
        ),
    },
    "q-learning": {
        "synchronous": Q_TASK,
        "Blackjack, lag 2": replace(tuned(Q_TASK, lag=2), env="Blackjack-v1"),
    },
    "ippo": {
        "fixed agents": IPPO_TASK,
        "agents that leave early": replace(IPPO_TASK, env=Alike),
    },
}
