# SPDX-License-Identifier: Apache-2.0
"""SB3VecEnv is bit-identical to DummyVecEnv."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TimeLimit
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from reactorl.rl import EnvError, VectorEnv
from tests.rl.comparing import assert_same
from tests.rl.short import Lazy, short_cart_pole
from tests.rl.toy_envs import Reuser, Toy

pytest.importorskip(
    "stable_baselines3", reason="needs Torch, which is tested on the GIL Python alone"
)

import torch
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecEnv,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

from reactorl.rl.adapters.sb3 import SB3VecEnv

if TYPE_CHECKING:
    from collections.abc import Callable

PLACEMENTS: list[Any] = ["thread", "process"]
COUNT = 5


def toy(space: gym.Space[Any], actions: gym.Space[Any] | None = None) -> Any:
    return partial(Toy, space, actions)


MAKERS: dict[str, Callable[[], gym.Env[Any, Any]]] = {
    "CartPole": short_cart_pole,
    "Pendulum": partial(gym.make, "Pendulum-v1", max_episode_steps=9),
    "vector": toy(spaces.Box(-1, 1, (3,), np.float64)),
    "image": toy(spaces.Box(0, 255, (4, 3, 2), np.uint8), spaces.Box(-1, 1, (2,))),
    "number": toy(spaces.Discrete(7), spaces.MultiDiscrete([3, 2])),
    "numbers": toy(spaces.MultiDiscrete([4, 5]), spaces.MultiBinary(3)),
    "bits": toy(spaces.MultiBinary(4)),
    "dict": toy(
        spaces.Dict(
            see=spaces.Box(0, 255, (4, 4, 1), np.uint8),
            at=spaces.Box(-1, 1, (2,)),
            count=spaces.Discrete(5),
        )
    ),
    "tuple": toy(spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,))))),
}


def plain(value: Any) -> Any:
    """Return a result without what may differ: the class of mappings and booleans."""
    if isinstance(value, dict):
        found = {key: plain(part) for key, part in value.items()}
        if "TimeLimit.truncated" in found:
            found["TimeLimit.truncated"] = bool(found["TimeLimit.truncated"])
        if "episode" in found:
            del found["episode"]["t"]  # seconds
        return found
    if isinstance(value, list | tuple):
        return type(value)(plain(part) for part in value)
    return deepcopy(value)


def play(envs: VecEnv, steps: int = 60, *, seed: int | None = 3) -> list[Any]:
    """Reset, step, and return everything that is to be seen."""
    if seed is not None:
        envs.seed(seed)
    seen: list[Any] = [plain(envs.reset()), plain(envs.reset_infos)]
    envs.action_space.seed(4)
    for _ in range(steps):
        actions = np.stack([envs.action_space.sample() for _ in range(envs.num_envs)])
        seen += [plain(envs.step(actions)), plain(envs.reset_infos)]
    envs.close()
    return seen


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("kind", MAKERS)
def test_the_results_are_those_of_dummy_vec_env(kind: str, workers: int) -> None:
    makers = [MAKERS[kind]] * COUNT
    ours = play(SB3VecEnv(makers, workers=workers, placement="thread"))

    assert_same(ours, play(DummyVecEnv(makers)))


@pytest.mark.parametrize("kind", MAKERS)
def test_in_processes_the_results_are_the_same(kind: str) -> None:
    makers = [MAKERS[kind]] * COUNT
    ours = play(SB3VecEnv(makers, workers=2, placement="process"))

    assert_same(ours, play(DummyVecEnv(makers)))


def test_the_comparison_sees_both_kinds_of_ends() -> None:
    for kind in ("CartPole", "dict"):
        steps = play(DummyVecEnv([MAKERS[kind]] * COUNT))[2::2]
        ends = [i for _, _, _, infos in steps for i in infos if len(i) > 1]
        ends = [info for info in ends if "terminal_observation" in info]

        assert {info["TimeLimit.truncated"] for info in ends} == {False, True}


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_reused_objects_do_not_change_earlier_results(
    placement: Any,
) -> None:
    envs = SB3VecEnv([Reuser] * 2, placement=placement, workers=1)
    envs.seed(1)
    envs.reset()

    first = envs.step(np.array([1, 2]))
    before = deepcopy(first)
    second = envs.step(np.array([0, 1]))
    envs.close()

    assert_same(first, before)
    assert second[3][0]["in"]["turn"] != first[3][0]["in"]["turn"]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_seeds_and_options_are_for_the_next_reset_only(placement: Any) -> None:
    def run(envs: VecEnv) -> list[Any]:
        seen = [envs.seed(5), plain(envs.reset()), plain(envs.reset_infos)]
        envs.set_options([{"level": k} if k else {} for k in range(3)])
        seen += [plain(envs.reset()), plain(envs.reset_infos)]
        envs.set_options({"all": 1})
        seen += [plain(envs.reset()), plain(envs.reset_infos)]
        seen += [plain(envs.reset()), plain(envs.reset_infos)]
        envs.close()
        return seen

    ours = run(SB3VecEnv([Toy] * 3, placement=placement, workers=2))

    assert_same(ours, run(DummyVecEnv([Toy] * 3)))
    assert ours[4][2]["options"] == "{'level': 2}"


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_single_environments_are_reached_as_in_dummy_vec_env(
    placement: Any,
) -> None:
    makers = [
        lambda: TimeLimit(Toy(longest=4), 3),
        lambda: Toy(longest=5),
        lambda: TimeLimit(Toy(longest=6), 3),
    ]

    def run(envs: VecEnv) -> list[Any]:
        envs.seed(1)
        envs.reset()
        seen = [
            envs.get_attr("longest"),
            envs.get_attr("longest", 1),
            envs.get_attr("longest", [2, 0]),
            envs.get_attr("longest", range(1, 3)),
            envs.get_attr("longest", -1),
            envs.get_attr("metadata"),
            envs.env_method("double", 4),
            envs.env_method("double", 4, plus=1, indices=[2, 1]),
            envs.env_is_wrapped(TimeLimit),
            envs.env_is_wrapped(gym.Wrapper, indices=[1, 0]),
            envs.env_is_wrapped(Monitor, 0),
            envs.has_attr("longest"),
            envs.has_attr("missing"),
            [callable(double) for double in envs.get_attr("double")],
        ]
        envs.set_attr("longest", 9, [0, 1])
        envs.set_attr("fresh", {"any": "value"}, 2)
        seen += [
            envs.get_attr("longest"),
            envs.env_method("get_wrapper_attr", "longest"),
            envs.get_attr("fresh", 2),
            [getattr(each, "longest", None) for each in envs.get_attr("unwrapped")],
            envs.render_mode,
            envs.metadata,
        ]
        for wrong in ("missing", "_no"):
            with pytest.raises(AttributeError, match=wrong):
                envs.get_attr(wrong)
        with pytest.raises(TypeError, match="not callable"):
            envs.env_method("longest", indices=1)
        with pytest.raises(IndexError):
            envs.get_attr("longest", 3)
        envs.close()
        return seen

    ours = run(SB3VecEnv(makers, placement=placement, workers=2))

    assert_same(ours, run(DummyVecEnv(makers)))


def test_an_environment_is_named_once() -> None:
    envs = SB3VecEnv([Toy] * 2)

    with pytest.raises(ValueError, match="indices must be distinct"):
        envs.env_method("double", 1, indices=[0, -2])
    envs.close()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_pictures_are_tiled(placement: Any) -> None:
    makers = [partial(Toy, render_mode="rgb_array")] * 3

    def run(envs: VecEnv) -> list[Any]:
        envs.seed(1)
        envs.reset()
        envs.set_attr("color", 7, 1)
        seen = [list(envs.get_images()), envs.render(), envs.render("rgb_array")]
        envs.close()
        return seen

    ours = run(SB3VecEnv(makers, placement=placement, workers=2))

    assert_same(ours, run(DummyVecEnv(makers)))


def test_without_pictures_there_is_a_warning() -> None:
    envs = SB3VecEnv([Toy] * 2)

    with pytest.warns(UserWarning, match="The render mode is None, but this method"):
        assert envs.get_images() == [None, None]
    envs.close()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_monitored_environments_report_their_episodes(placement: Any) -> None:
    def run(**how: Any) -> list[Any]:
        envs = make_vec_env(
            short_cart_pole,
            3,
            seed=6,
            wrapper_class=TimeLimit,
            wrapper_kwargs={"max_episode_steps": 12},
            **how,
        )
        assert envs.env_is_wrapped(Monitor) == [True] * 3
        return play(envs, seed=None)

    how = {"placement": placement, "workers": 2}
    ours = run(vec_env_cls=SB3VecEnv, vec_env_kwargs=how)

    assert_same(ours, run())
    assert any("episode" in info for step in ours[2::2] for info in step[3])


def test_monitors_write_their_files(tmp_path: Any) -> None:
    for kind in (SB3VecEnv, DummyVecEnv):
        folder = tmp_path / kind.__name__
        envs = make_vec_env(
            short_cart_pole, 2, seed=1, monitor_dir=str(folder), vec_env_cls=kind
        )
        play(envs, seed=None)

    def rows(kind: str, index: int) -> list[list[str]]:
        lines = (tmp_path / kind / f"{index}.monitor.csv").read_text().splitlines()
        return [line.split(",")[:2] for line in lines[1:]]

    assert len(rows("SB3VecEnv", 0)) > 3
    for index in range(2):
        assert rows("SB3VecEnv", index) == rows("DummyVecEnv", index)


@pytest.mark.parametrize(
    "wrap",
    [
        VecMonitor,
        VecNormalize,
        partial(VecFrameStack, n_stack=3),
        lambda envs: VecNormalize(VecMonitor(envs), gamma=0.9, clip_obs=1.5),
    ],
)
def test_wrappers_of_stable_baselines3_work_on_top(wrap: Any) -> None:
    makers = [short_cart_pole] * 4
    ours = play(wrap(SB3VecEnv(makers, workers=2, placement="thread")))

    assert_same(ours, play(wrap(DummyVecEnv(makers))))


def ppo(envs: VecEnv, policy: str = "MlpPolicy") -> dict[str, Any]:
    return learned(
        PPO(policy, envs, n_steps=32, batch_size=32, n_epochs=2, seed=11, device="cpu")
    )


def dqn(envs: VecEnv) -> dict[str, Any]:
    return learned(
        DQN("MlpPolicy", envs, learning_starts=64, train_freq=4, seed=11, device="cpu")
    )


def learned(model: Any) -> dict[str, Any]:
    """Train for a few hundred steps; return the weights, and how well they do."""
    first = {key: w.numpy().copy() for key, w in model.policy.state_dict().items()}
    model.learn(512)
    weights = {key: w.numpy() for key, w in model.policy.state_dict().items()}
    assert any((weights[key] != first[key]).any() for key in weights)
    envs = model.get_env()
    scores = evaluate_policy(model, envs, 4, return_episode_rewards=True, warn=False)
    envs.close()
    return {**weights, "scores": scores}


@pytest.fixture
def one_thread() -> Any:
    """Let Torch compute on one thread: sums then have one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("algorithm", [ppo, dqn])
def test_algorithms_learn_the_same_weights(algorithm: Any, placement: Any) -> None:
    makers = [short_cart_pole] * 4
    ours = algorithm(SB3VecEnv(makers, workers=2, placement=placement))

    assert_same(ours, algorithm(DummyVecEnv(makers)))


@pytest.mark.usefixtures("one_thread")
def test_ppo_learns_the_same_weights_from_dicts() -> None:
    space = spaces.Dict(at=spaces.Box(-1, 1, (2,)), count=spaces.Discrete(5))
    makers = [toy(space)] * 4
    ours = ppo(SB3VecEnv(makers, workers=2, placement="thread"), "MultiInputPolicy")

    assert_same(ours, ppo(DummyVecEnv(makers), "MultiInputPolicy"))


def test_a_vector_of_ours_is_taken_as_it_is() -> None:
    vector = VectorEnv(
        [short_cart_pole] * 2, autoreset_mode=AutoresetMode.SAME_STEP, workers=1
    )
    envs = SB3VecEnv(vector)
    found = play(envs)

    assert envs.vector is vector
    assert vector.closed
    assert_same(found, play(DummyVecEnv([short_cart_pole] * 2)))


def test_an_id_will_do() -> None:
    envs = SB3VecEnv("CartPole-v1", 3, env_kwargs={"max_episode_steps": 20})

    assert_same(play(envs), play(DummyVecEnv([short_cart_pole] * 3)))


def test_unsupported_arguments_are_refused_with_a_remedy() -> None:
    with pytest.raises(ValueError, match=r"autoreset_mode must be AutoresetMode\.SAME"):
        SB3VecEnv("CartPole-v1", 2, autoreset_mode="NextStep")
    with pytest.raises(ValueError, match="copy must be True"):
        SB3VecEnv("CartPole-v1", 2, copy=False)
    with pytest.raises(TypeError, match="functions that make one environment"):
        SB3VecEnv(Toy())  # type: ignore[arg-type]
    dummy = DummyVecEnv([Toy])
    with pytest.raises(TypeError, match=r"must be a list .*got a DummyVecEnv"):
        SB3VecEnv(dummy)  # type: ignore[arg-type]
    one = Toy()
    with pytest.raises(ValueError, match="Environments 0 and 1 are one"):
        SB3VecEnv([lambda: one] * 2)
    for space in (spaces.Text(3), spaces.Dict(a=spaces.Dict(b=spaces.Discrete(2)))):
        with pytest.raises(TypeError, match="Box, Discrete, MultiDiscrete or"):
            SB3VecEnv([partial(Toy, space)])


def test_vectors_that_do_not_fit_are_refused_and_left_open() -> None:
    vector = VectorEnv([Toy] * 2)
    with pytest.raises(ValueError, match=r"autoreset_mode must be AutoresetMode\.SAME"):
        SB3VecEnv(vector)
    with pytest.raises(ValueError, match="workers must be given to the VectorEnv"):
        SB3VecEnv(vector, workers=2)
    with pytest.raises(ValueError, match="num_envs must be given to the VectorEnv"):
        SB3VecEnv(vector, 2)
    with pytest.raises(TypeError, match="without wrappers"):
        SB3VecEnv(RecordEpisodeStatistics(vector))  # type: ignore[arg-type]
    assert not vector.closed
    vector.close()

    texts = VectorEnv([partial(Toy, spaces.Text(3))], autoreset_mode="SameStep")
    with pytest.raises(TypeError, match="the observation space must be Box"):
        SB3VecEnv(texts)
    assert not texts.closed
    texts.close()


def test_steps_are_begun_and_waited_for_in_turn() -> None:
    envs = SB3VecEnv([Toy] * 2)
    envs.reset()

    with pytest.raises(RuntimeError, match="call step_async first"):
        envs.step_wait()
    envs.step_async(np.array([0, 1]))
    with pytest.raises(RuntimeError, match="call step_wait first"):
        envs.step_async(np.array([0, 1]))
    envs.reset()  # which takes the step back
    envs.step(np.array([0, 1]))
    with pytest.raises(ValueError, match=r"actions must have 2 items, .*got 3"):
        envs.step(np.array([0, 1, 1]))
    envs.step(np.array([0, 1]))
    envs.close()
    envs.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        envs.step(np.array([0, 1]))


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_failures_are_raised_or_end_the_episode(placement: Any) -> None:
    actions = np.zeros(2, np.int64)
    never = SB3VecEnv([Lazy] * 2, placement=placement, workers=1)
    never.reset()
    never.step(actions)
    never.step(actions)
    with pytest.raises(EnvError, match="RuntimeError: tired"):
        never.step(actions)
    never.close()

    again = SB3VecEnv([Lazy] * 2, restart="reset", placement=placement, workers=1)
    again.reset()
    again.step(actions)
    again.step(actions)
    _, rewards, dones, infos = again.step(actions)
    again.close()

    assert rewards.tolist() == [0.0, 0.0]
    assert dones.tolist() == [True, True]
    assert infos[1]["TimeLimit.truncated"] is True
    assert infos[1]["restart"] == "reset"
    assert "tired" in infos[1]["failure"]
    assert_same(infos[1]["terminal_observation"], np.full(2, 2 / 9, np.float32))
