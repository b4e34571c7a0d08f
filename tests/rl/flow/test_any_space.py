# SPDX-License-Identifier: Apache-2.0
"""Training with spaces of all kinds: valid actions, bit-identical results, resume."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from reactorl.rl import DQN, IMPALA, PPO, SAC, Flow, FlowError
from tests.rl.trained import bits, same


class Sampling(gym.Env[Any, Any]):
    """Shows samples of its space, and fails if an action is not in the other one."""

    def __init__(self, observation: Any, action: Any) -> None:
        self.observation_space, self.action_space = observation, action

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.turn = 0
        return self.sampled(), {}

    def sampled(self) -> Any:
        # The generator of a space is not part of the state of an environment.
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample()

    def step(self, action: Any) -> Any:
        if not self.action_space.contains(action):
            msg = f"{action!r} must be in {self.action_space}"
            raise ValueError(msg)
        self.turn += 1
        return self.sampled(), 1.0, self.turn == 5, False, {}


def made(observation: Any, action: Any) -> Sampling:
    return Sampling(deepcopy(observation), deepcopy(action))


SIZES: Any = {"num_envs": 4, "num_steps": 6, "total_timesteps": 4 * 6 * 4}
PPO_SMALL = PPO(hidden=(8,), num_minibatches=2, update_epochs=1, **SIZES)
IMPALA_SMALL = IMPALA(hidden=(8,), num_minibatches=1, **SIZES)
DQN_SMALL = DQN(hidden=(8,), buffer_size=100, batch_size=8, learning_starts=24, **SIZES)
SAC_SMALL = SAC(hidden=(8,), buffer_size=100, batch_size=8, learning_starts=24, **SIZES)
NUMBERS = spaces.Box(-1, 1, (2, 2), np.float64)
BOUNDS = spaces.Box(np.array([-1, 0.1]), np.array([0.3, np.inf]), dtype=np.float64)
NESTED = spaces.Dict(
    move=spaces.Discrete(3, start=-1),
    rest=spaces.Tuple((BOUNDS, spaces.MultiBinary(2))),
    switches=spaces.MultiDiscrete([[2, 3]], start=[[1, 4]]),
)
SEEN = spaces.Dict(
    cell=spaces.Discrete(4, start=2),
    image=spaces.Box(0, 255, (2, 2, 1), np.uint8),
    name=spaces.Text(3, charset="ab"),
)
TASKS: dict[str, tuple[Any, Any, Any]] = {
    "ppo, nested": (PPO_SMALL, SEEN, NESTED),
    "ppo, numbers of float64": (PPO_SMALL, NUMBERS, BOUNDS),
    "ppo, MultiDiscrete": (
        PPO_SMALL,
        spaces.MultiDiscrete([3, 4], start=[1, 1]),
        NESTED["switches"],
    ),
    "impala, MultiBinary": (IMPALA_SMALL, spaces.Text(4), spaces.MultiBinary((2, 2))),
    "dqn, Discrete": (DQN_SMALL, SEEN, spaces.Discrete(3, start=5)),
    "sac, one-hot": (SAC_SMALL, spaces.Discrete(5), NUMBERS),
}


@pytest.mark.parametrize("name", TASKS)
def test_actions_are_valid_and_results_bit_identical(name: str) -> None:
    algorithm, observation, action = TASKS[name]
    env = partial(made, observation, action)
    task = Flow(env, algorithm, rollouts=2, eval_every=24, eval_episodes=2)
    with task.start(workers=1) as run:
        list(run.iterations())
        expected = run.save(), bits(run.weights)

    with task.start(workers=2) as run:
        run.step()
        run.step()
        saved = run.save()
    with task.start(workers=2, saved=saved) as run:
        list(run.iterations())
        assert same(run.save(), expected[0])
        assert bits(run.weights) == expected[1]


@pytest.mark.parametrize(
    ("algorithm", "action", "match"),
    [
        (DQN_SMALL, NUMBERS, "Discrete for DQN, got Box.*Use PPO, SAC or TD3"),
        (DQN_SMALL, NESTED, "Discrete for DQN, got Dict.*Use PPO or IMPALA"),
        (SAC_SMALL, spaces.Discrete(2), "for SAC, got Discrete.*Use DQN or PPO"),
        (PPO_SMALL, spaces.Text(3), "for PPO, got Text.*Use a wrapper"),
    ],
)
def test_refused_actions_name_an_algorithm_that_can(
    algorithm: Any, action: Any, match: str
) -> None:
    with pytest.raises(FlowError, match=match):
        Flow(partial(made, SEEN, action), algorithm).check()
