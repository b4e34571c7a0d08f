# SPDX-License-Identifier: Apache-2.0
"""Atari games in vectors, and preprocessing without OpenCV."""

from __future__ import annotations

import sys
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import AtariPreprocessing as TheirPreprocessing
from gymnasium.wrappers import FrameStackObservation, TimeLimit

from reactorl.rl import VectorEnv
from reactorl.rl.wrappers.atari import AtariPreprocessing
from tests.rl.comparing import Run, assert_same, assert_same_run, play, play_sync

if TYPE_CHECKING:
    from collections.abc import Callable

ale_py = pytest.importorskip(
    "ale_py",
    reason="ale-py is not installed; `make atari-ft` builds it for free-threaded "
    "CPython, `make atari-gil` installs it elsewhere",
)
gym.register_envs(ale_py)

HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
NATIVE = (160, 210)  # nothing is left to round
PLACED = [("thread", 1), ("thread", 2), ("process", 1), ("process", 2)]
stack = partial(FrameStackObservation, stack_size=4)


def need_opencv() -> None:
    pytest.importorskip("cv2", reason="OpenCV is not installed; 3.14t has no wheel")


def game(name: str = "Pong", **options: Any) -> gym.Env[Any, Any]:
    return gym.make(f"ALE/{name}-v5", **{"frameskip": 1, **options})


# -- in vectors ------------------------------------------------------------------------


def short_pong(index: int) -> gym.Env[Any, Any]:
    return gym.make("ALE/Pong-v5", max_num_frames_per_episode=300 + 90 * index)


PONGS = [partial(short_pong, index) for index in range(4)]
BREAKOUT = {"frameskip": 1, "max_num_frames_per_episode": 400}


@cache
def sync_pongs() -> Run:
    return play_sync(PONGS, steps=200)


@pytest.mark.parametrize(("placement", "workers"), PLACED)
def test_pong_is_pong_in_a_vector(placement: Any, workers: int) -> None:
    envs = VectorEnv(PONGS, placement=placement, workers=workers)

    ours = play(envs, steps=200)

    envs.close()
    assert_same_run(ours, sync_pongs())
    ends = sum(found[3].sum() for name, found in ours if name.startswith("step"))
    assert ends >= 4  # resets were among it


@cache
def sync_breakouts(prepare: Callable[[Any], Any]) -> Run:
    return play_sync(
        [lambda: stack(prepare(gym.make("ALE/Breakout-v5", **BREAKOUT)))] * 4,
        sync={"autoreset_mode": AutoresetMode.SAME_STEP},
        steps=150,
    )


@pytest.mark.parametrize(("placement", "workers"), PLACED)
@pytest.mark.parametrize(
    "prepare", [AtariPreprocessing, TheirPreprocessing], ids=["ours", "theirs"]
)
def test_wrappers_are_the_same_in_a_vector(
    prepare: Callable[[Any], Any],
    placement: Any,
    workers: int,
) -> None:
    if prepare is TheirPreprocessing:
        need_opencv()
    envs = VectorEnv(
        "ALE/Breakout-v5",
        num_envs=4,
        env_kwargs=BREAKOUT,
        wrappers=[prepare, stack],
        autoreset_mode=AutoresetMode.SAME_STEP,
        placement=placement,
        workers=workers,
    )

    ours = play(envs, steps=150)

    envs.close()
    assert_same_run(ours, sync_breakouts(prepare))
    assert envs.observation_space.shape == (4, 4, 84, 84)
    assert any("final_obs" in found[4] for _, found in ours[1:])


def test_default_placement_of_atari_games() -> None:
    pongs = VectorEnv("ALE/Pong-v5", num_envs=8, workers=2)
    poles = VectorEnv("CartPole-v1", num_envs=4, workers=2)

    assert pongs.placement == ("process" if HAS_GIL else "thread")
    assert poles.placement == "thread"
    pongs.close()
    poles.close()


# -- like Gymnasium's ------------------------------------------------------------------

OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "one frame": {"frame_skip": 1},
    "many frames": {"frame_skip": 7, "noop_max": 3},
    "no frames of nothing": {"noop_max": 0},
    "lives": {"terminal_on_life_loss": True},
    "colour": {"grayscale_obs": False},
    "an axis": {"grayscale_newaxis": True},
    "colour, and no axis": {"grayscale_obs": False, "grayscale_newaxis": True},
    "floats": {"scale_obs": True},
}


def record(env: gym.Env[Any, Any], steps: int) -> list[Any]:
    """Play for so many steps, with resets, and keep everything that is returned."""
    env.action_space.seed(3)
    found: list[Any] = [env.reset(seed=5)]
    for _ in range(steps):
        found.append(env.step(int(env.action_space.sample())))
        if found[-1][2] or found[-1][3]:
            found.append(env.reset())
    env.close()
    return found


def assert_close(ours: list[Any], theirs: list[Any], level: float) -> None:
    """Demand the same, but for one level in observations."""
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        assert_same(our[1:], their[1:])
        assert our[0].dtype == their[0].dtype
        assert our[0].shape == their[0].shape
        off = np.abs(our[0].astype(np.float64) - their[0].astype(np.float64))
        assert off.max() <= level * 1.0001


@pytest.mark.parametrize(
    ("name", "options"),
    [*(("Breakout", key) for key in OPTIONS), ("SpaceInvaders", "lives")],
)
def test_all_but_the_size_is_gymnasiums(name: str, options: str) -> None:
    need_opencv()
    settings = {"screen_size": NATIVE, **OPTIONS[options]}
    make = partial(game, name, max_num_frames_per_episode=200)
    ours, theirs = AtariPreprocessing(make(), **settings), make()
    theirs = TheirPreprocessing(theirs, **settings)
    assert ours.observation_space == theirs.observation_space

    found, expected = record(ours, 210), record(theirs, 210)

    assert_same(found, expected)
    assert sum(len(each) == 2 for each in found) > 1  # an episode ended


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_size_is_gymnasiums_but_for_one_level(options: dict[str, Any]) -> None:
    need_opencv()
    make = partial(game, "Breakout", max_num_frames_per_episode=200)
    ours, theirs = AtariPreprocessing(make(), **options), make()
    theirs = TheirPreprocessing(theirs, **options)
    assert ours.observation_space == theirs.observation_space

    found, expected = record(ours, 100), record(theirs, 100)

    assert_close(found, expected, level=1 / 255 if options.get("scale_obs") else 1)


# -- ours alone ------------------------------------------------------------------------


class Watcher(gym.Wrapper[Any, Any, Any, Any]):
    """Counts the frames that it sees."""

    frames = 0

    def step(self, action: Any) -> Any:
        self.frames += 1
        return super().step(action)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("lives", [False, True])
def test_frames_that_are_not_drawn_change_nothing(*, lives: bool, full: bool) -> None:
    make = partial(
        game, "Breakout", full_action_space=full, max_num_frames_per_episode=500
    )
    prepare = partial(AtariPreprocessing, terminal_on_life_loss=lives)
    watcher = Watcher(make())

    seen, unseen = record(prepare(watcher), 200), record(prepare(make()), 200)

    assert watcher.frames > 200
    assert_same(seen, unseen)


@pytest.mark.parametrize("kind", ["ram", "grayscale"])
def test_the_kind_of_observation_below_does_not_matter(kind: str) -> None:
    below = [game(obs_type="rgb"), game(obs_type=kind)]

    first, second = (record(AtariPreprocessing(env), 50) for env in below)

    assert_same(first, second)


def test_a_limit_below_counts_frames() -> None:
    env = AtariPreprocessing(TimeLimit(game(), 10), noop_max=0)
    env.reset(seed=1)

    ends = [env.step(0)[3] for _ in range(3)]

    assert ends == [False, False, True]


def test_stepping_before_a_reset_is_refused() -> None:
    env = AtariPreprocessing(game())

    with pytest.raises(gym.error.ResetNeeded, match=r"call reset\(\)"):
        env.step(0)


def test_it_can_be_made_again_from_its_spec() -> None:
    env = AtariPreprocessing(game(), frame_skip=3, screen_size=(64, 72))
    assert env.spec is not None

    again = gym.make(env.spec)

    assert again.observation_space == env.observation_space
    assert again.get_wrapper_attr("frame_skip") == 3


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"frame_skip": 0}, ValueError, "frame_skip must be at least 1, got 0"),
        ({"noop_max": -1}, ValueError, "noop_max must be 0 or more, got -1"),
        ({"screen_size": 161}, ValueError, "160x210, got 161x161"),
    ],
)
def test_arguments_out_of_range_are_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        AtariPreprocessing(game(), **options)


def test_skipping_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="make it with frameskip=1"):
        AtariPreprocessing(gym.make("ALE/Pong-v5"))


def test_env_that_is_not_a_game_is_refused() -> None:
    with pytest.raises(TypeError, match="env must be an Atari game"):
        AtariPreprocessing(gym.make("CartPole-v1"))
