# SPDX-License-Identifier: Apache-2.0
"""Environments with hidden global state are found."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import SharedStateError, VectorEnv

_counter = itertools.count()


class Decent(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(0, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.observe(), {}

    def observe(self) -> Any:
        return self.np_random.random(2).astype(np.float32)

    def step(self, action: Any) -> Any:
        return self.observe(), 0.0, False, False, {}


class GlobalRandom(Decent):
    """Seeds and uses NumPy's global generator, as old environments do."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        np.random.seed(seed)
        return self.observe(), {}

    def observe(self) -> Any:
        return np.random.random(2).astype(np.float32)


class Shared(Decent):
    """Has one list for all."""

    trail: list[int] = []  # noqa: RUF012

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.trail.clear()
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.trail.append(int(action))
        return self.observe(), float(len(self.trail)), False, False, {}


class Unrepeatable(Decent):
    def step(self, action: Any) -> Any:
        return self.observe(), float(next(_counter)), False, False, {}


def test_decent_environments_pass_and_are_closed() -> None:
    closed: list[int] = []

    class Closing(Decent):
        def close(self) -> None:
            closed.append(1)

    envs = VectorEnv([Closing] * 3, check=True, placement="thread")
    assert len(closed) == 9
    envs.close()
    VectorEnv("CartPole-v1", 3, check=True, placement="thread").close()


@pytest.mark.parametrize("kind", [GlobalRandom, Shared])
def test_those_that_share_state_are_named(kind: Any) -> None:
    with pytest.raises(SharedStateError, match="share hidden global state") as raised:
        VectorEnv([Decent, kind, kind, Decent], check=True)
    assert raised.value.among == (1, 2)
    assert raised.value.alone == ()
    assert dict(raised.value.first)[1] >= 1
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)


def test_one_that_shares_with_nobody_is_fine() -> None:
    VectorEnv([Decent, Shared, Decent], check=True, placement="thread").close()


def test_those_that_are_not_even_repeatable_alone_are_named() -> None:
    with pytest.raises(SharedStateError, match=r"not repeatable.*: 0 \(from step 1\)"):
        VectorEnv([Unrepeatable, Decent], check=True)
