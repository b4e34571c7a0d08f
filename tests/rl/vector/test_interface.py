# SPDX-License-Identifier: Apache-2.0
"""The rest of Gymnasium's vector interface."""

from __future__ import annotations

import importlib.util
import pickle
import sys
import time
import types
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from reactorl.rl import EnvError, VectorEnv
from tests.rl.comparing import assert_same, assert_same_run, play
from tests.rl.toy_envs import Toy, toys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PLACEMENTS: list[Any] = ["thread", "process"]


@pytest.fixture(params=PLACEMENTS, scope="module")
def envs(request: pytest.FixtureRequest) -> Iterator[VectorEnv]:
    """Three toys, by two workers; every test resets them."""
    found = VectorEnv(
        toys(3, render_mode="rgb_array"), workers=2, placement=request.param
    )
    yield found
    found.close()


# -- actions ---------------------------------------------------------------------------


class Keeper(gym.Env[Any, Any]):
    """Keeps every action that it gets."""

    observation_space = spaces.Box(0, 1)
    action_space = spaces.Box(-1, 1, (2,))

    def __init__(self, pause: float = 0) -> None:
        self.kept: list[Any] = []
        self.pause = pause

    def reset(self, **_: Any) -> Any:
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        time.sleep(self.pause)
        self.kept.append(action)
        return np.zeros(1, np.float32), 0.0, False, False, {}


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("pause", [0, 1e-4], ids=["short steps", "long steps"])
def test_env_may_keep_its_row_of_actions(
    placement: Any, workers: int, pause: float
) -> None:
    maker = partial(Keeper, pause)
    envs = VectorEnv([maker] * 5, placement=placement, workers=workers)
    envs.reset()
    actions = np.empty((5, 2), np.float32)
    for number in range(20):  # long steps are handed out one by one, after a while
        actions[...] = np.arange(10).reshape(5, 2) / 10 + number
        envs.step(actions)

    for index, kept in enumerate(envs.get_attr("kept")):
        first = np.array([2 * index, 2 * index + 1]) / 10
        expected = [first + number for number in range(20)]
        np.testing.assert_array_equal(kept, np.array(expected, np.float32))
    envs.close()


# -- attributes and methods ------------------------------------------------------------


def test_methods_are_called_and_attributes_read(envs: VectorEnv) -> None:
    assert envs.call("double", 4, plus=1) == (9, 9, 9)
    assert envs.call("longest") == (6, 6, 6)
    assert envs.get_attr("longest") == (6, 6, 6)


def test_attributes_are_set_for_all_or_for_each(envs: VectorEnv) -> None:
    envs.set_attr("mark", "x")
    assert envs.get_attr("mark") == ("x", "x", "x")
    envs.set_attr("mark", [1, 2, 3])
    assert envs.get_attr("mark") == (1, 2, 3)
    envs.set_attr("mark", ([1], None, {}))
    assert envs.get_attr("mark") == ([1], None, {})


def test_attributes_reach_the_environment_inside_wrappers() -> None:
    envs = VectorEnv("CartPole-v1", 2, placement="thread")
    envs.set_attr("gravity", [1.0, 2.0])

    assert envs.get_attr("gravity") == (1.0, 2.0)
    assert [env.unwrapped.gravity for env in envs.envs] == [1.0, 2.0]  # type: ignore[attr-defined]
    envs.close()


def test_missing_attribute_raises_attribute_error(envs: VectorEnv) -> None:
    with pytest.raises(AttributeError, match="nothing_here") as raised:
        envs.call("nothing_here")

    assert "environment 0" in "".join(raised.value.__notes__)
    envs.reset(seed=1)


def test_a_wrong_number_of_values_is_refused(envs: VectorEnv) -> None:
    with pytest.raises(ValueError, match="Got `2` values for 3 environments"):
        envs.set_attr("mark", [1, 2])


class Sensitive(Toy):
    """Raises errors that cannot be made from their text alone."""

    def complain(self) -> None:
        raise Complaint(1, reason="because")

    def leak(self) -> object:
        return (each for each in ())


class Complaint(Exception):
    def __init__(self, number: int, *, reason: str) -> None:
        super().__init__(f"{number}: {reason}")


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_exception_of_a_method_is_raised(placement: Any) -> None:
    envs = VectorEnv([Sensitive] * 2, placement=placement, workers=1)
    expected = Complaint if placement == "thread" else RuntimeError

    with pytest.raises(expected, match="1: because") as raised:
        envs.call("complain")

    assert "environment 0" in "".join(raised.value.__notes__)
    if placement == "process":
        match = r"environment 0 \(Sensitive\).*cannot be sent"
        with pytest.raises(EnvError, match=match):
            envs.call("leak")
    assert envs.call("double", 2) == (4, 4)
    envs.close()


def test_generators_and_their_seeds(envs: VectorEnv) -> None:
    envs.reset(seed=5)

    assert envs.np_random_seed == (5, 6, 7)
    theirs = SyncVectorEnv(toys(3))
    theirs.reset(seed=5)
    assert [g.bit_generator.state for g in envs.np_random] == [
        g.bit_generator.state for g in theirs.np_random
    ]


# -- rendering -------------------------------------------------------------------------


def test_rendering_gives_a_frame_of_each(envs: VectorEnv) -> None:
    envs.set_attr("color", [10, 20, 30])
    envs.reset(seed=1)

    frames = envs.render()

    assert envs.render_mode == "rgb_array"
    assert [frame[0, 0, 0] for frame in frames] == [10, 20, 30]
    assert_same(frames[0], np.full((4, 6, 3), 10, np.uint8))


# -- what it is ------------------------------------------------------------------------


def test_repr(envs: VectorEnv) -> None:
    theirs = SyncVectorEnv(toys(3, render_mode="rgb_array"))

    assert repr(envs) == "VectorEnv(num_envs=3)"
    assert envs.spec is None
    assert envs.metadata == theirs.metadata
    assert "autoreset_mode" not in Toy.metadata
    for name in ("observation_space", "action_space"):
        assert getattr(envs, name) == getattr(theirs, name)
        assert getattr(envs, f"single_{name}") == getattr(theirs, f"single_{name}")
    assert isinstance(envs, gym.vector.VectorEnv)
    assert envs.unwrapped is envs


def test_environments_of_this_process_can_be_seen() -> None:
    envs = VectorEnv(toys(3), placement="thread", workers=2)
    envs.reset(seed=1)

    assert [type(env) for env in envs.envs] == [Toy] * 3
    assert len({id(env) for env in envs.envs}) == 3
    envs.close()


def test_those_of_other_processes_cannot(envs: VectorEnv) -> None:
    if envs.placement == "process":
        with pytest.raises(AttributeError, match="get_attr"):
            _ = envs.envs
    else:
        assert len(envs.envs) == 3


def test_the_tag_advances_with_every_command(envs: VectorEnv) -> None:
    envs.reset(seed=1)
    before = envs.tag
    envs.step([0, 0, 0])

    assert envs.tag > before


def test_an_id_alone_is_one_environment() -> None:
    envs = VectorEnv("CartPole-v1")

    assert envs.num_envs == 1
    envs.close()


# -- closing ---------------------------------------------------------------------------


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_closing_twice_is_closing_once(placement: Any) -> None:
    envs = VectorEnv(toys(2), placement=placement, workers=1)
    envs.reset(seed=1)

    envs.close()
    envs.close()

    assert envs.closed
    uses: list[Callable[[], object]] = [
        envs.reset,
        partial(envs.step, [0, 0]),
        envs.render,
        partial(envs.call, "longest"),
        partial(envs.set_attr, "mark", 1),
    ]
    for use in uses:
        with pytest.raises(
            gym.error.ClosedEnvironmentError, match="after a call to `close"
        ):
            use()


# -- Gymnasium's wrappers on top -------------------------------------------------------


def by_wrapper(wrap: Callable[[Any], Any], ours: Any, theirs: Any) -> None:
    """Let both play below a wrapper, and compare."""
    try:
        runs = [untimed(play(wrap(each), steps=40)) for each in (ours, theirs)]
        assert_same_run(*runs)
    finally:
        ours.close()


def untimed(run: Any) -> Any:
    """Forget how long episodes took."""
    for _, found in run:
        if isinstance(found[-1], dict):
            found[-1].get("episode", {}).pop("t", None)
    return run


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "NormalizeObservation": wrappers.NormalizeObservation,
    "NormalizeReward": wrappers.NormalizeReward,
    "FlattenObservation": wrappers.FlattenObservation,
    "RescaleObservation": lambda envs: wrappers.RescaleObservation(
        envs, np.float32(0), np.float32(1)
    ),
    "ClipReward": lambda envs: wrappers.ClipReward(envs, -1, 1),
    "TransformAction": lambda envs: wrappers.TransformAction(
        envs, lambda actions: actions * 1, envs.action_space
    ),
    "DictInfoToList": wrappers.DictInfoToList,
    "stack": lambda envs: wrappers.RecordEpisodeStatistics(
        wrappers.NormalizeReward(wrappers.NormalizeObservation(envs))
    ),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_gymnasiums_vector_wrappers(name: str) -> None:
    makers = toys(4, spaces.Box(-1, 1, (2, 2), np.float32), chatty=name != "stack")

    by_wrapper(
        WRAPPERS[name],
        VectorEnv(makers, workers=2, placement="thread"),
        SyncVectorEnv(makers),
    )


def test_wrappers_on_processes() -> None:
    makers, mode = toys(3), AutoresetMode.SAME_STEP

    by_wrapper(
        wrappers.RecordEpisodeStatistics,
        VectorEnv(makers, workers=2, placement="process", autoreset_mode=mode),
        SyncVectorEnv(makers, autoreset_mode=mode),
    )


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ["torch", "array_api_compat"])),
    reason="Gymnasium's wrapper needs torch and array_api_compat",
)
def test_tensors_come_out_of_the_array_wrapper() -> None:
    import torch

    envs = wrappers.NumpyToTorch(VectorEnv(toys(3, chatty=False), workers=2))
    observations, _ = envs.reset(seed=1)
    theirs = SyncVectorEnv(toys(3, chatty=False))
    expected, _ = theirs.reset(seed=1)

    assert isinstance(observations, torch.Tensor)
    assert_same(observations.numpy(), expected)
    found = envs.step(torch.tensor([0, 1, 2]))
    assert_same(found[0].numpy(), theirs.step(np.array([0, 1, 2]))[0])
    envs.close()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_videos_get_the_frames(
    placement: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clips: list[list[Any]] = []

    class Clip:
        def __init__(self, frames: list[Any], fps: float) -> None:
            clips.append(frames)

        def write_videofile(self, path: str, **_: object) -> None:
            pass

    # What it encodes is another's business; what it is given is ours.
    package = types.ModuleType("moviepy")
    module = types.ModuleType("moviepy.video.io.ImageSequenceClip")
    module.ImageSequenceClip = Clip  # type: ignore[attr-defined]
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    vector = VectorEnv(toys(2, render_mode="rgb_array"), placement=placement, workers=1)
    vector.set_attr("color", [100, 200])

    envs = wrappers.RecordVideo(
        vector,
        str(tmp_path / "videos"),
        step_trigger=lambda step: step == 1,
        video_length=3,
        disable_logger=True,
    )
    envs.reset(seed=1)
    for _ in range(8):
        envs.step(np.array([0, 1]))
    envs.close()

    assert len(clips) == 1
    assert len(clips[0]) >= 3
    seen = {int(value) // 100 for frame in clips[0] for value in frame.flat}
    assert {1, 2} <= seen


def test_errors_survive_pickling() -> None:
    failure = EnvError(3, "CartPole-v1", 17, "1 s, 2", "ValueError: no", "Trace")

    again = pickle.loads(pickle.dumps(failure))

    assert vars(again) == vars(failure)
    assert str(again) == str(failure)
