# SPDX-License-Identifier: Apache-2.0
"""The memory of a recurrent policy: carried, initial in each episode, saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo import ParallelEnv

from reactorl.rl import ActOutput, Algorithm, Flow, MultiAgentFlow
from reactorl.rl.flow.policy_memory import PolicyMemory
from tests.rl.trained import same


class Walk(gym.Env):
    """Episodes of 3, 4 or 5 steps, by the seed; the reward is the action."""

    observation_space = gym.spaces.Box(0, 9, (1,), np.float32)
    action_space = gym.spaces.Box(0, 1000, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.turn, self.length = 0, int(self.np_random.integers(3, 6))
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.turn += 1
        over = self.turn == self.length
        return np.full(1, self.turn, np.float32), float(action[0]), over, False, {}


class Mortal(Walk):
    """Loses a life in its second step, and counts steps from then on."""

    def step(self, action: Any) -> Any:
        _, *results, _ = super().step(action)
        since = self.turn - 2 if self.turn >= 2 else self.turn
        return np.full(1, since, np.float32), *results, {"lives": int(self.turn < 2)}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed)[0], {"lives": 1}


class Pair(ParallelEnv):
    """Two agents in the same episode; "b" leaves one step before the end."""

    possible_agents = ["a", "b"]  # noqa: RUF012

    def observation_space(self, agent: str) -> Any:
        return Walk.observation_space

    def action_space(self, agent: str) -> Any:
        return Walk.action_space

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.turn = ["a", "b"], 0
        rows = {agent: np.zeros(1, np.float32) for agent in self.agents}
        return rows, {agent: {} for agent in self.agents}

    def step(self, actions: Any) -> Any:
        self.turn += 1
        last = {"a": 4, "b": 3}
        over = {agent: self.turn == last[agent] for agent in actions}
        self.agents = [agent for agent in actions if not over[agent]]
        rows = {agent: np.full(1, self.turn, np.float32) for agent in actions}
        rewards = {agent: float(actions[agent][0]) for agent in actions}
        never, infos = dict.fromkeys(actions, False), {agent: {} for agent in actions}
        return rows, rewards, over, never, infos


@dataclass(frozen=True, kw_only=True)
class Counting(Algorithm):
    """Counts the steps of the episode in its memory, and acts with that count."""

    name = "Counting"
    lag = 0

    def check_spaces(self, spaces: Any) -> None: ...

    def init(self, spaces: Any, seed: int) -> Any:
        return np.float32(0)

    def weights(self, state: Any) -> Any:
        return state

    def initial_memory(self, spaces: Any, count: int) -> Any:
        return {"count": np.zeros((count, 1), np.float32)}

    def act(self, weights: Any, inputs: Any, random: Any, progress: Any) -> Any:
        return self.act_greedy(weights, inputs)

    def act_greedy(self, weights: Any, inputs: Any) -> Any:
        count = inputs.memory["count"]
        assert np.array_equal(count, inputs.observations)  # both count steps
        return ActOutput(count + 100, {}, {"count": count + 1})

    def update(self, state: Any, batches: Any) -> Any:
        for batch in batches:
            assert np.array_equal(batch["memory/count"], batch["observations"])
        return state + np.float32(1), {"losses/sum": float(state)}, None

    def serialize(self, state: Any) -> Any:
        return float(state)

    def deserialize(self, like: Any, data: Any) -> Any:
        return np.float32(data)


SIZES = {"num_envs": 4, "num_steps": 7, "total_timesteps": 4 * 7 * 6}
TASKS = {
    "one agent": Flow(Walk, Counting(**SIZES), rollouts=2, eval_every=28),
    "a life is lost": Flow(
        Mortal, Counting(**SIZES), rollouts=2, eval_every=28, life_loss=True
    ),
    "two agents": MultiAgentFlow(Pair, Counting(**SIZES), eval_every=28),
}


@pytest.mark.parametrize("name", TASKS)
def test_memory_is_carried_and_initial_in_each_episode(name: str) -> None:
    with TASKS[name].start(workers=2) as run:
        iterations = list(run.iterations())  # the algorithm compares with steps

    assert sum(len(each.episodes) for each in iterations) > 10
    assert any(each.evaluation for each in iterations)


@pytest.mark.parametrize("name", TASKS)
def test_memory_is_part_of_the_saved_state(name: str) -> None:
    task: Any = TASKS[name]
    with task.start() as run:
        run.step()
        saved = run.save()
        list(run.iterations())
        expected = run.save()
    with task.start(saved=saved) as run:
        list(run.iterations())
        assert same(run.save(), expected)
    assert "count" in str(saved)


def test_greedy_episodes_carry_memory() -> None:
    task: Any = TASKS["one agent"]
    episodes = task.play(np.float32(0), episodes=7, seed=3)

    for each in episodes:
        assert each.episode_return == sum(100 + k for k in range(each.length))


def test_memory_is_initial_after_a_lost_life_in_evaluations_too() -> None:
    task: Any = TASKS["a life is lost"]
    for each in task.play(np.float32(0), episodes=7, seed=3):
        assert each.episode_return == 100 + 101 + sum(
            100 + k for k in range(each.length - 2)
        )


def test_stored_memory_is_not_changed_later() -> None:
    memory = PolicyMemory(Counting(), TASKS["one agent"].spaces, 2)
    before = memory.rows
    memory.put({"count": np.ones((2, 1), np.float32)})
    held = memory.rows
    memory.begin([1])

    assert before is not None
    assert before["count"].tolist() == [[0], [0]]
    assert held is not None
    assert held["count"].tolist() == [[1], [1]]
    assert memory.of([1, 0])["count"].tolist() == [[0], [1]]  # type: ignore[index]
