# SPDX-License-Identifier: Apache-2.0
"""Errors contain the texts of Gymnasium, on which its callers match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from reactorl.rl import VectorEnv
from tests.rl.toy_envs import Toy

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER_BOUNDS = partial(Toy, spaces.Box(0, 5, (2,), np.float32))
OTHER_SHAPE = partial(Toy, spaces.Box(0, 1, (7,), np.float32))
BATCHED = spaces.Box(0, 1, (2, 9), np.float32), spaces.Box(0, 1, (9,), np.float32)

CONSTRUCTIONS: dict[str, Callable[[Any], object]] = {
    "unknown mode": lambda kind: kind([Toy], observation_mode="wild"),
    "no spaces": lambda kind: kind([Toy], observation_mode=(1, "two")),
    "three spaces": lambda kind: kind([Toy], observation_mode=(1, 2, 3)),
    "other bounds": lambda kind: kind([Toy, OTHER_BOUNDS]),
    "other shape": lambda kind: kind([Toy, OTHER_SHAPE]),
    "custom space": lambda kind: kind([Toy, Toy], observation_mode=BATCHED),
    "other actions": lambda kind: kind([Toy, partial(Toy, actions=spaces.Discrete(9))]),
}
CALLS: dict[str, Callable[[Any], object]] = {
    "seeds": lambda envs: envs.reset(seed=[1, 2, 3]),
    "mask is a list": lambda envs: envs.reset(options={"reset_mask": [True, False]}),
    "mask of another shape": lambda envs: envs.reset(
        options={"reset_mask": np.ones(3, bool)}
    ),
    "mask of another shape and dtype": lambda envs: envs.reset(
        options={"reset_mask": np.ones((1, 2))}
    ),
    "mask of another dtype": lambda envs: envs.reset(
        options={"reset_mask": np.ones(2)}
    ),
    "mask of nothing": lambda envs: envs.reset(
        options={"reset_mask": np.zeros(2, bool)}
    ),
    "values": lambda envs: envs.set_attr("x", [1, 2, 3]),
}


def _error(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - compared with another
        call()
    return raised.value


def _check(ours: Exception, theirs: Exception) -> None:
    assert isinstance(ours, type(theirs))
    assert str(theirs).replace("SyncVectorEnv", "VectorEnv") in str(ours)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_errors_of_the_constructor_contain_gymnasiums(name: str) -> None:
    make = CONSTRUCTIONS[name]
    ours = _error(lambda: make(partial(VectorEnv, placement="thread")))
    _check(ours, _error(lambda: make(SyncVectorEnv)))


@pytest.mark.parametrize("name", CALLS)
def test_errors_of_calls_contain_gymnasiums(name: str) -> None:
    call = CALLS[name]
    ours, theirs = VectorEnv([Toy, Toy], placement="thread"), SyncVectorEnv([Toy, Toy])
    try:
        ours.reset(seed=1)
        theirs.reset(seed=1)
        _check(_error(lambda: call(ours)), _error(lambda: call(theirs)))
    finally:
        ours.close()
        theirs.close()


@pytest.mark.parametrize("method", ["reset", "step", "call", "render"])
def test_errors_after_close_contain_gymnasiums(method: str) -> None:
    arguments = {"step": ([0],), "call": ("x",)}.get(method, ())
    ours = VectorEnv([Toy], placement="thread")
    ours.close()
    with pytest.raises(gym.error.ClosedEnvironmentError) as raised:
        getattr(ours, method)(*arguments)
    named = AsyncVectorEnv.__new__(AsyncVectorEnv)
    named.closed = True
    theirs = _error(named._assert_is_running)
    assert str(raised.value) == str(theirs).replace("AsyncVectorEnv", "VectorEnv")
