# SPDX-License-Identifier: Apache-2.0
"""Small trainings for tests, and their results as bits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import jax
import numpy as np

from reactorl.rl import ActInput
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from reactorl.rl import Flow, Iteration, Task


def bits(tree: Any) -> bytes:
    return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree))


def tuned(task: Any, **changes: Any) -> Any:
    """Return a task whose algorithm has other hyper-parameters."""
    return replace(task, algorithm=replace(task.algorithm, **changes))


def lasting(task: Any, iterations: int) -> Any:
    """Return a task with another number of iterations."""
    return tuned(task, total_timesteps=iterations * task.steps_per_iteration)


def trained(task: Task, **options: Any) -> tuple[bytes, list[Iteration]]:
    """Return the final weights of a training, and its iterations."""
    with task.start(**options) as run:
        iterations = list(run.iterations())
        return bits(run.weights), iterations


def same(one: Any, other: Any) -> bool:
    """Return whether plain data is the same, array by array and bit by bit."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same(a, b) for a, b in pairs)
    if isinstance(one, np.ndarray):
        kinds = (one.dtype, one.shape) == (other.dtype, other.shape)
        return kinds and one.tobytes() == other.tobytes()
    return type(one) is type(other) and bool(one == other)


def mean_return(flow: Flow, episodes: int = 100, seed: int | None = 10_000) -> float:
    """Train, then return the mean return of greedy episodes."""
    weights = flow.run(workers=2)
    assert isinstance(flow.env, str)
    env = gym.make(flow.env)
    encode = Encoder(env.observation_space).one
    total = 0.0
    for episode in range(episodes):
        observation, _ = env.reset(seed=None if seed is None else seed + episode)
        ended = False
        while not ended:
            inputs = ActInput(encode(observation)[None])
            action = flow.algorithm.act_greedy(weights, inputs).actions[0]
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            ended = terminated or truncated
    env.close()
    return total / episodes
