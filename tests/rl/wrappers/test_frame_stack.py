# SPDX-License-Identifier: Apache-2.0
"""Frame stacks equal those of Gymnasium and are independent copies."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FrameStackObservation

from reactorl.rl.wrappers.frame_stack import WINDOWS, FrameStack

STEPS = 60


def play(env: gym.Env[Any, Any]) -> list[Any]:
    """Return all stacks of some episodes."""
    stacks = [env.reset(seed=1)[0]]
    for step in range(STEPS):
        observation, _, terminated, truncated, _ = env.step(step % 2)
        stacks.append(observation)
        if terminated or truncated:
            stacks.append(env.reset()[0])
    env.close()
    return stacks


@pytest.mark.parametrize("padding", ["reset", "zero"])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_stacks_are_those_of_gymnasium(size: int, padding: Any) -> None:
    theirs = FrameStackObservation(gym.make("CartPole-v1"), size, padding_type=padding)
    ours = FrameStack(gym.make("CartPole-v1"), size, padding_type=padding)

    assert ours.observation_space == theirs.observation_space
    found, expected = play(ours), play(theirs)
    assert len(found) == len(expected) > WINDOWS * size + 1
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_writing_to_a_stack_does_not_change_others() -> None:
    env = FrameStack(gym.make("CartPole-v1"), 3)
    first, _ = env.reset(seed=1)
    kept = first.copy()
    first[:] = 7

    second, *_ = env.step(0)

    assert np.array_equal(second[:2], kept[1:])
    env.close()


@pytest.mark.parametrize(
    ("env", "options", "error", "says"),
    [
        (
            "CartPole-v1",
            {"stack_size": 0},
            ValueError,
            "stack_size must be at least 1, got 0",
        ),
        (
            "CartPole-v1",
            {"stack_size": 2, "padding_type": "ones"},
            ValueError,
            "'reset' or 'zero'",
        ),
        (
            "Blackjack-v1",
            {"stack_size": 2},
            TypeError,
            "observation_space must be a Box",
        ),
    ],
)
def test_bad_stacks_are_refused(
    env: str, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        FrameStack(gym.make(env), **options)
