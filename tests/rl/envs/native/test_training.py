# SPDX-License-Identifier: Apache-2.0
"""Trainings with native environments give the weights and checkpoints of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reactorl.rl import DQN, PPO, Flow, QLearning
from tests.rl.trained import bits, lasting, same, trained

if TYPE_CHECKING:
    from collections.abc import Callable

TASKS: dict[str, Callable[[Any], Flow]] = {
    "ppo CartPole": lambda native: Flow(
        "CartPole-v1",
        PPO(num_envs=4, num_steps=32, num_minibatches=2, update_epochs=1),
        eval_every=128,
        eval_episodes=2,
        native=native,
    ),
    "ppo Pendulum": lambda native: Flow(
        "Pendulum-v1",
        PPO(num_envs=4, num_steps=32, num_minibatches=2, update_epochs=1),
        eval_every=0,
        time_limit=21,
        native=native,
    ),
    "dqn Acrobot": lambda native: Flow(
        "Acrobot-v1",
        DQN(num_envs=4, buffer_size=200, learning_starts=20, batch_size=8),
        eval_every=0,
        time_limit=9,
        native=native,
    ),
    "q-learning Blackjack": lambda native: Flow(
        "Blackjack-v1", QLearning(num_envs=4), eval_every=0, native=native
    ),
    "q-learning Taxi": lambda native: Flow(
        "Taxi-v4", QLearning(num_envs=4), eval_every=0, time_limit=30, native=native
    ),
}


def short(name: str, native: Any, iterations: int = 6) -> Flow:
    flow: Flow = lasting(TASKS[name](native), iterations)
    return flow


@pytest.mark.parametrize("name", TASKS)
def test_native_environments_give_the_same_weights(name: str) -> None:
    weights, iterations = trained(short(name, False), workers=1)  # noqa: FBT003

    for native, workers in (("auto", 1), (True, 2), (True, 3)):
        found = trained(short(name, native), workers=workers)
        assert found[0] == weights
        assert [str(each) for each in found[1]] == [str(each) for each in iterations]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", TASKS)
def test_checkpoints_do_not_depend_on_native(name: str, first: bool) -> None:  # noqa: FBT001
    expected, _ = trained(short(name, False), workers=1)  # noqa: FBT003
    states = []
    for native in (first, not first):
        with short(name, native).start(workers=1) as run:
            for _ in range(3):
                run.step()
            states.append(run.save())
    assert same(*states)

    with short(name, not first).start(workers=1, saved=states[0]) as run:
        for _ in run.iterations():
            pass
        assert bits(run.weights) == expected
