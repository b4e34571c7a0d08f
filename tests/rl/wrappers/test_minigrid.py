# SPDX-License-Identifier: Apache-2.0
"""Observations of MiniGrid as categories and text."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from reactorl.rl import PPO, FlowError
from reactorl.rl.flow.encoding import Encoder

pytest.importorskip("minigrid", reason="minigrid needs pygame: no wheel for 3.14t")

from reactorl.rl.wrappers.minigrid import MISSION_LENGTH, MiniGridObservation


def make(env_id: str) -> MiniGridObservation:
    return MiniGridObservation(gym.make(env_id))


@pytest.mark.parametrize(
    "env_id",
    [
        "MiniGrid-DoorKey-6x6-v0",
        "MiniGrid-LavaGapS5-v0",
        "MiniGrid-KeyCorridorS3R1-v0",
        "MiniGrid-LockedRoom-v0",
        "BabyAI-GoToRedBall-v0",
    ],
)
def test_observations_are_in_the_space_and_lose_nothing(env_id: str) -> None:
    env, alone = make(env_id), gym.make(env_id)
    encoder = Encoder(env.observation_space)
    observation, _ = env.reset(seed=3)
    original, _ = alone.reset(seed=3)
    env.action_space.seed(3)

    for _ in range(60):
        assert env.observation_space.contains(observation)
        assert (observation["image"] == original["image"]).all()
        assert observation["direction"] == original["direction"]
        if "mission" in observation:
            assert observation["mission"] == original["mission"].lower()
        assert encoder.one(observation).shape == encoder.shape
        action = env.action_space.sample()
        observation, *_ = env.step(action)
        original, *_ = alone.step(action)


def test_mission_is_part_of_it_unless_it_is_always_the_same() -> None:
    def mission(env_id: str) -> Any:
        found = make(env_id).observation_space
        assert isinstance(found, spaces.Dict)
        return found.spaces.get("mission")

    assert mission("MiniGrid-Empty-5x5-v0") is None
    longest = "you must fetch a purple ball"
    assert mission("MiniGrid-Fetch-5x5-N2-v0").max_length == len(longest)
    assert mission("BabyAI-GoToRedBall-v0").max_length == MISSION_LENGTH


def test_every_category_has_an_input_of_its_own() -> None:
    encoder = Encoder(make("MiniGrid-Empty-5x5-v0").observation_space)

    assert encoder.input_shape == (4 + 7 * 7 * (11 + 6 + 4),)


def test_a_task_uses_it_unless_it_has_wrappers_or_no_preprocessing() -> None:
    env_id = "MiniGrid-Empty-5x5-v0"
    task = PPO(num_envs=4).task(env_id)
    task.check()

    assert task.preprocessing_steps == ("grid cells as categories",)
    image = PPO(num_envs=4).task(
        env_id, wrappers=["minigrid.wrappers:ImgObsWrapper"], time_limit=9
    )
    image.check()
    assert image.spaces.observation == spaces.Box(0, 255, (7, 7, 3), np.uint8)
    with pytest.raises(FlowError, match="got MissionSpace"):
        PPO(num_envs=4).task(env_id, preprocessing=False).check()
