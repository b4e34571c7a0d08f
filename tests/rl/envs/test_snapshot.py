# SPDX-License-Identifier: Apache-2.0
"""Snapshots: a restored environment continues as the saved one, or a reason is given."""

from __future__ import annotations

import random
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import NormalizeObservation, RecordEpisodeStatistics

from reactorl.rl import DQN, Flow, read_checkpoint, write_checkpoint
from reactorl.rl.envs import episode_recorder
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.episode_recorder import checksum
from reactorl.rl.envs.factory import makers
from reactorl.rl.envs.rules import Rules
from reactorl.rl.envs.snapshot import method_of
from reactorl.rl.envs.sub_env import SubEnv
from reactorl.rl.multi_agent.sub_env import ParallelSubEnv
from reactorl.rl.wrappers.atari import AtariPreprocessing
from reactorl.rl.wrappers.frame_stack import FrameStack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULES = Rules(AutoresetMode.SAME_STEP, resumable=True)
FLOW = Flow("CartPole-v1", DQN())


class Played:
    """A sub-environment with its arrays, and random actions."""

    def __init__(self, make: Callable[[], Any], rules: Rules = RULES) -> None:
        self.sub_env = SubEnv(0, make, rules)
        env = self.sub_env.env
        self.arrays = Arrays.of(env.observation_space, 1)
        self.sub_env.assign(self.arrays)
        self.actions = env.action_space
        self.sub_env.reset(3, None)

    def steps(self, count: int, seed: int) -> list[int]:
        """Step with random actions; return all results."""
        self.actions.seed(seed)
        found = []
        for _ in range(count):
            self.sub_env.step(self.actions.sample())
            results = self.arrays.rewards, self.arrays.terminations
            found.append(checksum([self.arrays.observations.row(0), *results], 0))
        return found


def through_a_file(saved: Any, tmp_path: Path) -> Any:
    write_checkpoint(tmp_path / "c", saved, FLOW)
    return read_checkpoint(tmp_path / "c", FLOW).data


def check_continues(make: Callable[[], Any], steps: int, tmp_path: Path) -> str:
    """Check that a restored environment continues identically; return the method."""
    one, other = Played(make), Played(make)
    one.steps(steps, seed=0)
    other.steps(3, seed=9)
    saved = through_a_file(one.sub_env.save({}), tmp_path)
    assert one.sub_env.verify(saved) == ""
    expected = one.steps(40, seed=1)

    assert other.sub_env.load(saved) == ""

    again = through_a_file(other.sub_env.save({}), tmp_path)
    assert other.steps(40, seed=1) == expected
    third = Played(make)
    assert third.sub_env.load(again) == ""  # a resumed run is resumed
    assert third.steps(40, seed=1) == expected
    one.sub_env.close()
    other.sub_env.close()
    third.sub_env.close()
    return method_of(saved["env"])


def registered(env_id: str, *wrappers: Any, **kwargs: Any) -> Callable[[], Any]:
    try:
        return makers(env_id, 1, kwargs, wrappers)[0]
    except (ImportError, gym.error.Error) as error:
        pytest.skip(f"not installed here: {error}")


@pytest.mark.parametrize(
    ("env_id", "steps", "method"),
    [
        ("CartPole-v1", 30, "state"),
        ("HalfCheetah-v5", 30, "state"),
        ("Ant-v5", 150, "state"),
        ("Humanoid-v5", 60, "state"),
        ("MiniGrid-DoorKey-5x5-v0", 300, "state"),
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", 40, "state"),
        ("MinAtar/Breakout-v1", 100, "state"),
        ("MinAtar/Seaquest-v1", 100, "state"),
        ("LunarLander-v3", 30, "history"),
        ("LunarLander-v3", 350, "episode"),
        ("LunarLanderContinuous-v3", 350, "episode"),
        ("BipedalWalker-v3", 400, "history"),
        ("BipedalWalkerHardcore-v3", 400, "history"),
    ],
)
def test_restored_environments_continue_identically(
    env_id: str, steps: int, method: str, tmp_path: Path
) -> None:
    make = registered(env_id)
    try:
        make().close()
    except Exception as error:  # noqa: BLE001 - the package is not installed
        pytest.skip(f"cannot be made here: {error}")
    assert check_continues(make, steps, tmp_path) == method
