# SPDX-License-Identifier: Apache-2.0
"""A vector is for one thread at a time: other uses raise BusyError and do no harm."""

from __future__ import annotations

import threading
import time
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl import BusyError
from reactorl.rl import VectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.envs.placement import Placement

WITHIN = 30.0  # seconds; only a hang takes that long

KINDS = {
    "threads": {"placement": "thread", "workers": 2},
    "processes": {"placement": "process", "workers": 2},
    "async": {"placement": "thread", "workers": 2, "batch_size": 3},
}

USES = {
    "step": lambda envs: envs.step(np.zeros(3, np.int64)),
    "reset": lambda envs: envs.reset(seed=1),
    "close": lambda envs: envs.close(),
    "call": lambda envs: envs.call("render"),
    "set_attr": lambda envs: envs.set_attr("x", 1),
    "send": lambda envs: envs.send(np.zeros(3, np.int64)),
    "recv": lambda envs: envs.recv(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS.keys())
def test_use_while_another_thread_steps_raises(
    options: dict[str, Any], use: Callable[[VectorEnv], object]
) -> None:
    envs = VectorEnv("CartPole-v1", 3, **options)
    envs.reset(seed=1)
    inside, leave = threading.Event(), threading.Event()
    backend = envs._backend
    step = backend.step

    def slow(*args: Any) -> Any:
        inside.set()
        assert leave.wait(WITHIN)
        return step(*args)

    backend.step = slow  # type: ignore[method-assign]
    results: list[Any] = []
    thread = threading.Thread(
        target=lambda: results.append(envs.step(np.zeros(3, np.int64)))
    )
    thread.start()
    assert inside.wait(WITHIN)

    with pytest.raises(BusyError, match="in use by another thread"):
        use(envs)
    leave.set()
    thread.join(WITHIN)

    assert len(results) == 1
    assert not envs.closed
    envs.close()
    assert envs.closed


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS.keys())
def test_two_threads_that_step_get_results_or_busy_errors(
    options: dict[str, Any],
) -> None:
    vector = VectorEnv("CartPole-v1", 4, **options | {"batch_size": None})
    with closing(vector) as envs:
        envs.reset(seed=1)
        steps = [0, 0]
        unexpected: list[BaseException] = []

        def use(which: int) -> None:
            try:
                for _ in range(200):
                    try:
                        envs.step(np.zeros(4, np.int64))
                    except BusyError:
                        continue
                    steps[which] += 1
            except BaseException as error:
                unexpected.append(error)

        threads = [threading.Thread(target=use, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WITHIN)
            assert not thread.is_alive()

        assert not unexpected
        assert sum(steps) > 0


@pytest.mark.parametrize("placement", ["thread", "process"])
def test_closing_between_steps_of_another_thread_succeeds_or_raises(
    placement: Placement,
) -> None:
    envs = VectorEnv("CartPole-v1", 4, workers=2, placement=placement)
    envs.reset(seed=1)
    ended: list[BaseException] = []

    def use() -> None:
        while not ended:
            try:
                envs.step(np.zeros(4, np.int64))
            except BusyError:
                continue
            except BaseException as error:
                ended.append(error)
            time.sleep(0.001)  # close() must find the vector idle at some time

    thread = threading.Thread(target=use)
    thread.start()
    while not envs.closed:
        with suppress(BusyError):
            envs.close()
    thread.join(WITHIN)

    assert not thread.is_alive()
    assert type(ended[0]) is gym.error.ClosedEnvironmentError


class Reentrant(gym.Env[Any, Any]):
    """Steps the vector that it is part of."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, vectors: list[VectorEnv]) -> None:
        self.vectors = vectors

    def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, _: Any) -> Any:
        with pytest.raises(BusyError):
            self.vectors[0].step([0])
        with pytest.raises(BusyError):
            self.vectors[0].close()
        return 1, 0.0, False, False, {}


def test_an_environment_that_steps_its_own_vector_gets_an_error() -> None:
    vectors: list[VectorEnv] = []
    with closing(
        VectorEnv([partial(Reentrant, vectors)], workers=1, placement="thread")
    ) as envs:
        vectors.append(envs)
        envs.reset()

        observations, *_ = envs.step([0])

    assert observations.tolist() == [1]
