# SPDX-License-Identifier: Apache-2.0
"""Evaluation during training: which weights it uses, and which episodes count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import (
    IPPO,
    PPO,
    ActOutput,
    Algorithm,
    Flow,
    FlowError,
    MultiAgentFlow,
    PlayProgress,
)
from tests.rl.contract.tasks import DQN_TASK
from tests.rl.meeting import CELLS, Meeting
from tests.rl.trained import lasting, trained

if TYPE_CHECKING:
    from reactorl.rl.flow.run import DrivenRun


class Paid(gym.Env[Any, Any]):
    """Rewards are the actions; the length of an episode depends on the seed."""

    observation_space = gym.spaces.Box(0, 1, (1,), np.float32)
    action_space = gym.spaces.Box(0, 1_000, (1,), np.float32)

    def __init__(self, longest: int = 9) -> None:
        self.longest = longest

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.length = 1 if seed % 2 else self.longest
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


# -- an evaluation always ends --------------------------------------------------------


def Endless() -> gym.Env[Any, Any]:
    """Episodes of the environment with an odd seed end after a step, others never."""
    return Paid(longest=10**9)


ENDLESS = replace(TASK, env=Endless, eval_max_steps=7)


def test_episodes_of_an_evaluation_are_cut_at_the_limit() -> None:
    reports: list[PlayProgress] = []
    episodes = ENDLESS.play(np.float32(2), episodes=5, seed=2, report=reports.append)

    # Seeds 2 to 6: even ones never end.
    assert [(e.length, e.is_cut) for e in episodes] == [
        (7, True),
        (1, False),
        (7, True),
        (1, False),
        (7, True),
    ]
    assert [e.episode_return for e in episodes] == [14, 2, 14, 2, 14]
    assert ENDLESS.cut_text(episodes) == "3 of 5 episodes were cut at 7 steps"
    assert ENDLESS.cut_text(episodes[:2]) == "1 of 2 episodes was cut at 7 steps"
    assert ENDLESS.cut_text(episodes[1:2]) == ""
    assert [each.episodes for each in reports] == [2] * 6 + [5]
    assert str(reports[-1]) == "5 of 5 episodes, 23 steps"


def test_episode_that_ends_at_the_limit_is_not_cut() -> None:
    (episode,) = replace(TASK, eval_max_steps=9).play(np.float32(2), episodes=1, seed=2)
    assert (episode.length, episode.is_cut) == (9, False)


def test_evaluation_during_training_ends_at_the_limit() -> None:
    run: DrivenRun[Any] = ENDLESS.start()
    with run:
        assert run.evaluation is None
        iterations = [run.step(), run.step()]
        assert run.evaluation == PlayProgress(2, 4, 4)
        iterations += run.iterations()
    found = [r.evaluation for r in iterations if r.evaluation is not None]
    assert [(e.iteration, e.num_cut) for e in found] == [(2, 2), (10, 2)]
    lengths = sorted(e.length for e in found[0].episodes)
    assert lengths == [1, 1, 7, 7]


def test_cut_episodes_survive_a_checkpoint() -> None:
    whole = [r.evaluation for r in trained(ENDLESS)[1]]
    run: DrivenRun[Any] = ENDLESS.start()
    with run:
        first = [run.step() for _ in range(6)]
        saved = run.save()
        under_way = run.evaluation
    again: DrivenRun[Any] = ENDLESS.start(saved=saved)
    with again:
        assert again.evaluation == under_way
        rest = list(again.iterations())
    assert [r.evaluation for r in [*first, *rest]] == whole


def test_evaluation_of_several_agents_ends_at_the_limit() -> None:
    task = MultiAgentFlow(Apart, IPPO(num_envs=2, num_steps=4), eval_max_steps=5)
    weights = {
        agent: task.algorithm.weights(task.init(agent)) for agent in task.agent_spaces
    }
    episodes = task.play(weights, episodes=3, seed=1)
    assert [(e.length, e.is_cut) for e in episodes] == [(5, True)] * 3
    assert [len(e.by_agent) for e in episodes] == [2] * 3
    assert episodes[0].episode_return == pytest.approx(-0.5)


class Apart(Meeting):
    """A meeting that never ends."""

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        self.turns = 0
        self.places[:] = 0, CELLS - 1
        return super().step(dict.fromkeys(actions, 1))


@pytest.mark.parametrize(
    ("env", "options", "limit"),
    [
        ("CliffWalking-v1", {}, 10_000),
        ("CartPole-v1", {}, 10_000),
        ("CartPole-v1", {"time_limit": 20_000}, 20_000),
        (lambda: gym.make("CartPole-v1", max_episode_steps=30_000), {}, 30_000),
        ("CartPole-v1", {"eval_max_steps": 3}, 3),
    ],
)
def test_limit_is_at_least_that_of_the_environment(
    env: Any, options: Any, limit: int
) -> None:
    assert Flow(env, PPO(), **options).max_eval_steps == limit


def test_limit_of_atari_games_is_that_of_the_emulator() -> None:
    pytest.importorskip("ale_py")
    task = Flow("ALE/Pong-v5", replace(TASK.algorithm))
    assert task.max_eval_steps == 27_000


def test_limit_must_be_positive() -> None:
    message = "eval_max_steps must be at least 1, or None, got 0"
    with pytest.raises(FlowError, match=message):
        replace(TASK, eval_max_steps=0)
