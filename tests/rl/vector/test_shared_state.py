# SPDX-License-Identifier: Apache-2.0
"""Environments with hidden global state are detected."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import EnvError, SharedStateError, VectorEnv

_counter = itertools.count()
_LEDGER = {"steps": 0}


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


class Ledger(Decent):
    """Writes into a table of its module, and begins it anew when it is reset."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        _LEDGER["steps"] = 0
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        _LEDGER["steps"] += 1
        return self.observe(), float(_LEDGER["steps"]), False, False, {}


class UnseededRandom(Decent):
    """Uses NumPy's global generator as it is."""

    def observe(self) -> Any:
        return np.random.random(2).astype(np.float32)


class Unrepeatable(Decent):
    def step(self, action: Any) -> Any:
        return self.observe(), float(next(_counter)), False, False, {}


def test_decent_environments_pass_and_are_closed() -> None:
    closed: list[int] = []

    class Closing(Decent):
        def close(self) -> None:
            closed.append(1)

    envs = VectorEnv([Closing] * 3, check=True, placement="thread")
    assert len(closed) == 10  # three of each, and one to look at the class
    envs.close()
    VectorEnv("CartPole-v1", 3, check=True, placement="thread").close()


@pytest.mark.parametrize("kind", [GlobalRandom, Shared, Ledger])
def test_those_that_share_state_are_named(kind: Any) -> None:
    with pytest.raises(SharedStateError, match="share hidden global state") as raised:
        VectorEnv([Decent, kind, kind, Decent], check=True)
    assert raised.value.among == (1, 2)
    assert raised.value.alone == ()
    assert dict(raised.value.first)[1] >= 1
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)


def test_env_without_shared_state_passes() -> None:
    VectorEnv([Decent, Shared, Decent], check=True, placement="thread").close()


def test_those_that_are_not_even_repeatable_alone_are_named() -> None:
    with pytest.raises(
        SharedStateError, match=r"not reproducible.*: 0 \(from step 1\)"
    ):
        VectorEnv([Unrepeatable, Decent], check=True)


def test_those_that_use_numpys_global_generator_unseeded_are_named() -> None:
    with pytest.raises(
        SharedStateError, match=r"not reproducible.*: 1 \(.*, 2 \("
    ) as e:
        VectorEnv([Decent, UnseededRandom, UnseededRandom], check=True)
    assert e.value.alone == (1, 2)
    assert e.value.among == ()


def test_failure_in_the_check_names_the_env_and_closes_all() -> None:
    closed: list[int] = []

    class Failing(Decent):
        def __init__(self, index: int) -> None:
            self.index = index

        def step(self, action: Any) -> Any:
            if self.index == 1:
                msg = "not today"
                raise ValueError(msg)
            return super().step(action)

        def close(self) -> None:
            closed.append(self.index)

    makers = [lambda k=k: Failing(k) for k in range(3)]
    with pytest.raises(EnvError, match="ValueError: not today") as raised:
        VectorEnv(makers, check=True)

    assert (raised.value.index, raised.value.env, raised.value.step) == (
        1,
        "Failing",
        1,
    )
    assert closed == [0, 1]
