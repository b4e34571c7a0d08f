# SPDX-License-Identifier: Apache-2.0
"""The environment of a task: arguments, wrappers, time limit, frame stack, Atari."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

from reactorl._util.serialization import deserialize, serialize
from reactorl.rl import (
    PPO,
    ActOutput,
    Algorithm,
    EnvError,
    Flow,
    FlowError,
    MultiAgentFlow,
)
from reactorl.rl.checkpoint.identity import identity
from tests.rl.contract.tasks import IPPO_TASK
from tests.rl.trained import trained

if TYPE_CHECKING:
    from reactorl.rl.flow.run import DrivenRun

HERE = __name__


class Lives(gym.Env[Any, Any]):
    """Nine steps with rewards of 5; a life is lost in every third one."""

    observation_space = gym.spaces.Box(0, 99, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, lives: int = 3) -> None:
        self.first = lives

    def observed(self) -> tuple[Any, dict[str, Any]]:
        seen = np.array([self.turn], np.float32)
        return seen, {"lives": self.first - self.turn // 3}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.turn = 0
        return self.observed()

    def step(self, action: Any) -> Any:
        self.turn += 1
        seen, info = self.observed()
        return seen, 5.0, info["lives"] == 0, False, info


class OwnKeys(Lives):
    """Has infos with the keys that autoreset and ``LifeLoss`` use, and a lock."""

    def observed(self) -> tuple[Any, dict[str, Any]]:
        seen, info = super().observed()
        own = {"final_obs": 3, "life_lost": True, "failure": "none", "final_info": ""}
        return seen, {**info, **own, "lock": threading.Lock()}


class Doubled(gym.ObservationWrapper[Any, Any, Any]):
    """Multiplies observations."""

    def __init__(self, env: Any, by: int = 2) -> None:
        super().__init__(env)
        self.by = by

    def observation(self, observation: Any) -> Any:
        return observation * self.by


@dataclass(frozen=True, kw_only=True)
class Watching(Algorithm):
    """Learns nothing; its weights are the last batch."""

    name = "Watching"
    num_envs: int = 2
    num_steps: int = 12
    total_timesteps: int = 24

    def check_spaces(self, spaces: Any) -> None: ...

    def init(self, spaces: Any, seed: int) -> Any:
        return {}

    def weights(self, state: Any) -> Any:
        return state

    def act(self, weights: Any, inputs: Any, random: Any, progress: Any) -> Any:
        return self.act_greedy(weights, inputs)

    def act_greedy(self, weights: Any, inputs: Any) -> Any:
        return ActOutput(np.zeros(len(inputs.observations), np.int64))

    def update(self, state: Any, batches: Any) -> Any:
        return dict(batches[0]), {}, None

    def serialize(self, state: Any) -> Any:
        return state

    def deserialize(self, like: Any, data: Any) -> Any:
        return data


def watched(**options: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return the trajectory of an iteration, and its episodes."""
    options = {"rollouts": 1, "eval_every": 0, "placement": "thread", **options}
    task = Flow(options.pop("env", Lives), Watching(), **options)
    run: DrivenRun[Any] = task.start(workers=1)
    with run:
        episodes = list(run.step().episodes)
        return run.weights, episodes


# -- fields of the task ---------------------------------------------------------------


def test_env_kwargs_are_arguments_of_a_function_as_well() -> None:
    _, episodes = watched(env_kwargs={"lives": 2})
    assert {e.length for e in episodes} == {6}


def test_wrappers_are_functions_or_names_and_the_first_is_the_innermost() -> None:
    plain, _ = watched()
    wrappers = [Doubled, f"{HERE}:Doubled(by=5)", lambda env: Doubled(env, by=7)]
    batch, _ = watched(wrappers=wrappers)
    np.testing.assert_array_equal(
        batch["observations"], 2 * 5 * 7 * plain["observations"]
    )
    task = Flow("CartPole-v1", PPO(), wrappers=[f"{HERE}:Doubled", TimeLimitTwo])
    env: Any = task.maker()
    assert (type(env), type(env.env)) == (TimeLimit, Doubled)


def TimeLimitTwo(env: Any) -> Any:
    return TimeLimit(env, 2)


def test_time_limit_truncates_functions_and_replaces_the_limit_of_an_id() -> None:
    batch, episodes = watched(time_limit=4)
    assert {e.length for e in episodes} == {4}
    assert batch["truncations"][3].all()
    assert not batch["terminations"].any()
    for limit in (7, 5_000):
        env = Flow("CartPole-v1", PPO(), time_limit=limit).maker()
        assert env.spec is not None
        assert env.spec.max_episode_steps == limit


def test_frame_stack_gives_the_last_observations_as_one() -> None:
    batch, _ = watched(frame_stack=3)
    seen = batch["observations"][:5, 0, :, 0]
    assert seen.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]


def test_frame_stack_is_outside_of_the_wrappers() -> None:
    batch, _ = watched(frame_stack=2, wrappers=[Doubled])
    assert batch["observations"][2, 0, :, 0].tolist() == [2, 4]


def test_clipped_rewards_are_in_trajectories_and_not_in_returns() -> None:
    batch, episodes = watched(clip_rewards=True)
    assert set(batch["rewards"].ravel()) == {1.0}
    assert {e.episode_return for e in episodes} == {45.0}
    plain, _ = watched()
    assert set(plain["rewards"].ravel()) == {5.0}


def test_next_observation_at_an_end_is_the_last_one_of_the_episode() -> None:
    batch, _ = watched()

    assert batch["observations"][:, 0, 0].tolist() == [*range(9), 0, 1, 2]
    assert batch["next_observations"][:, 0, 0].tolist() == [*range(1, 10), 1, 2, 3]


@dataclass(frozen=True, kw_only=True)
class NotingProgress(Watching):
    """Puts the progress that rollouts act with into trajectories."""

    num_envs: int = 1
    num_steps: int = 2
    total_timesteps: int = 8

    def act(self, weights: Any, inputs: Any, random: Any, progress: Any) -> Any:
        output = self.act_greedy(weights, inputs)
        noted = np.full(len(output.actions), progress)
        return ActOutput(output.actions, extras={"progress_seen": noted})


def test_progress_is_the_share_of_iterations_that_are_done() -> None:
    task: Any = Flow(
        Lives, NotingProgress(), rollouts=1, eval_every=0, placement="thread"
    )
    seen = []
    with task.start(workers=1) as run:
        for _ in range(4):
            run.step()
            seen.append(run.weights["progress_seen"].tolist())

    assert seen == [[[share], [share]] for share in (0.0, 0.25, 0.5, 0.75)]


def test_a_lost_life_is_a_termination_in_trajectories_and_the_game_continues() -> None:
    batch, episodes = watched(life_loss=True)
    ends = [False, False, True] * 4
    assert batch["terminations"][:, 0].tolist() == ends
    assert batch["next_observations"][2, 0] == 3
    assert batch["observations"][3, 0] == 3
    assert {(e.length, e.episode_return) for e in episodes} == {(9, 45.0)}
    plain, _ = watched()
    assert plain["terminations"][:, 0].tolist() == [k == 8 for k in range(12)]


@pytest.mark.parametrize("placement", ["thread", "process"])
def test_infos_of_the_environment_may_have_any_keys_and_values(placement: Any) -> None:
    batch, episodes = watched(env=OwnKeys, placement=placement)
    assert batch["terminations"][:, 0].tolist() == [k == 8 for k in range(12)]
    assert {(e.length, e.episode_return) for e in episodes} == {(9, 45.0)}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"time_limit": 0}, "time_limit must be at least 1, or None, got 0"),
        ({"frame_stack": 0}, "frame_stack must be at least 1, or None, got 0"),
        ({"wrappers": Doubled}, "wrappers must be a list of functions or names"),
        ({"wrappers": "a:b"}, "wrappers must be a list of functions or names"),
        ({"wrappers": [3]}, "wrappers must be functions or names, got 3"),
        ({"wrappers": ["Doubled"]}, "wrapper must be module:function, got 'Doubled'"),
        ({"wrappers": ["a:b(c)"]}, r"wrapper must be module:function, got 'a:b\(c\)'"),
        ({"wrappers": ["no_such:b"]}, "importing 'no_such' of wrapper .* failed"),
        ({"wrappers": [f"{HERE}:Doubeld"]}, "has no function 'Doubeld'.*'Doubled'"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(FlowError, match=f"(?s){text}"):
        Flow("CartPole-v1", PPO(), **options)


def test_options_of_the_environment_are_part_of_the_identity() -> None:
    task = Flow("CartPole-v1", PPO())
    changes: list[dict[str, Any]] = [
        {"env_kwargs": {"sutton_barto_reward": True}},
        {"wrappers": (f"{HERE}:Doubled",)},
        {"time_limit": 9},
        {"frame_stack": 2},
        {"preprocessing": False},
        {"life_loss": True},
        {"clip_rewards": True},
    ]
    for change in changes:
        assert identity(replace(task, **change)) != identity(task)


def test_makers_can_be_sent_to_worker_processes() -> None:
    task = Flow(
        "CartPole-v1", PPO(), frame_stack=2, time_limit=3, wrappers=[f"{HERE}:Doubled"]
    )
    maker: Any = deserialize(serialize(task.maker))
    assert maker().observation_space == task.maker().observation_space


def test_training_is_the_same_in_worker_processes() -> None:
    task = Flow(
        Lives,
        Watching(total_timesteps=48),
        rollouts=2,
        frame_stack=2,
        life_loss=True,
        clip_rewards=True,
        placement="thread",
        eval_every=0,
    )
    weights, _ = trained(task)
    assert trained(replace(task, placement="process"))[0] == weights


# -- several agents -------------------------------------------------------------------


def test_time_limit_and_wrappers_of_several_agents() -> None:
    made = []

    def count(env: Any) -> Any:
        made.append(env)
        return env

    task: Any = replace(
        IPPO_TASK, time_limit=3, wrappers=[count], placement="thread", eval_every=0
    )
    assert isinstance(task, MultiAgentFlow)
    run: DrivenRun[Any] = task.start(workers=1)
    with run:
        episodes = [e for _ in range(2) for e in run.step().episodes]
    assert made
    assert max(e.length for e in episodes) == 3
    assert task.preprocessing_steps[0] == "time limit 3"


# -- Atari ----------------------------------------------------------------------------


def test_atari_ids_get_the_standard_preprocessing() -> None:
    pytest.importorskip("ale_py")
    task = Flow("ALE/Breakout-v5", PPO())
    env: Any = task.maker()
    assert env.observation_space == gym.spaces.Box(0, 255, (4, 84, 84), np.uint8)
    assert env.action_space.n == 4  # not the full action space
    assert env.unwrapped._frameskip == 1
    inner = env.env
    assert (inner.noop_max, inner.frame_skip) == (30, 4)
    assert not inner.terminal_on_life_loss
    assert task.task_env.clip_rewards
    assert task.preprocessing_steps == (
        "up to 30 no-op frames after a reset",
        "frame skip 4",
        "maximum of two frames",
        "84x84 grayscale",
        "frame stack 4",
        "rewards clipped in training, reported returns unclipped",
    )
    env.close()


def test_atari_preprocessing_can_be_changed_and_refused() -> None:
    pytest.importorskip("ale_py")

    def shape(**options: Any) -> tuple[int, ...]:
        found: Any = Flow("ALE/Pong-v5", PPO(), **options).maker()
        return tuple(found.observation_space.shape)

    assert shape(preprocessing=False) == (210, 160, 3)
    assert shape(frame_stack=2) == (2, 84, 84)
    assert shape(frame_stack=1) == (84, 84)
    assert shape(env_kwargs={"obs_type": "ram"}) == (128,)
    refused = Flow("ALE/Pong-v5", PPO(), preprocessing=False)
    assert refused.preprocessing_steps == ()
    assert not refused.task_env.clip_rewards
    assert not Flow("ALE/Pong-v5", PPO(), clip_rewards=False).task_env.clip_rewards
    with pytest.raises(FlowError, match=r"frameskip of 'ALE/Pong-v5' must be 1"):
        shape(env_kwargs={"frameskip": 2})


def test_time_limit_of_atari_counts_steps_of_the_agent() -> None:
    pytest.importorskip("ale_py")
    env: Any = Flow("ALE/Breakout-v5", PPO(), time_limit=5, life_loss=True).maker()
    env.reset(seed=1)
    ended = [env.step(0)[3] for _ in range(5)]
    assert ended == [False] * 4 + [True]


def test_old_atari_ids_are_games_too() -> None:
    pytest.importorskip("ale_py")
    env = Flow("PongNoFrameskip-v4", PPO()).maker()
    assert env.observation_space.shape == (4, 84, 84)


# -- rewards and failures -------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # of the environment
def test_vector_rewards_are_refused_without_a_wrapper() -> None:
    pytest.importorskip("mo_gymnasium")
    with pytest.raises(FlowError, match=r"must be a number.*LinearReward"):
        Flow("mo-mountaincar-v0", PPO()).check()
    wrapper = "mo_gymnasium.wrappers:LinearReward"
    task = Flow("mo-mountaincar-v0", PPO(), wrappers=[wrapper], placement="thread")
    task.check()
    Flow(task.maker, PPO(), placement="thread").check()  # wrapped by a function


class Torn(Lives):
    """Returns a list of rewards, as environments of several agents do."""

    def step(self, action: Any) -> Any:
        seen, _, terminated, truncated, info = super().step(action)
        return seen, [1.0, 2.0], terminated, truncated, info


def test_reward_that_is_not_a_number_is_named() -> None:
    task = Flow(Torn, Watching(), rollouts=1, eval_every=0, placement="thread")
    with pytest.raises(EnvError, match=r"reward must be a number, got \[1.0, 2.0\]"):
        trained(task)


class Mute(Lives):
    """Cannot be made, and does not say why."""

    def __init__(self) -> None:
        raise AssertionError


def test_environment_that_fails_without_a_word_is_reported_with_the_place() -> None:
    gym.register("Mute-v0", entry_point=f"{HERE}:Mute")
    try:
        with pytest.raises(
            FlowError, match=r"AssertionError in .*environment\.py, line"
        ):
            Flow("Mute-v0", PPO()).check()
    finally:
        gym.registry.pop("Mute-v0")
