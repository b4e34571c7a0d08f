# SPDX-License-Identifier: Apache-2.0
"""Trainings in tests: what they end with, as bits, and how well that plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import jax
import numpy as np

from reactorl.rl.flow.flow import Flow, Round, Run

if TYPE_CHECKING:
    from collections.abc import Mapping


def bits(tree: Any) -> bytes:
    return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree))


def trained(flow: Flow, **options: Any) -> tuple[bytes, list[Round]]:
    """Return the weights that a training ends with, and its rounds."""
    with Run(flow, **options) as run:
        rounds = list(run.rounds())
        return bits(run.weights), rounds


def resumed(flow: Flow, stop: int) -> tuple[bytes, list[Round]]:
    """Return the same of a training that was stopped once and went on."""
    with Run(flow, workers=2) as run:
        first = [run.step() for _ in range(stop)]
        saved: Mapping[str, Any] = run.save()
    with Run(flow, workers=1, saved=saved) as run:
        rest = list(run.rounds())
        return bits(run.weights), first + rest


def mean_score(flow: Flow, episodes: int = 100, seed: int = 10_000) -> float:
    """Train, then return the mean score of so many episodes without exploration."""
    with Run(flow, workers=2) as run:
        for _ in run.rounds():
            pass
        weights = run.weights
    assert isinstance(flow.env, str)
    env = gym.make(flow.env)
    total = 0.0
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed + episode)
        ended = False
        while not ended:
            rows = np.asarray(observation)[None]
            action = flow.algorithm.act_best(weights, rows)[0]
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            ended = terminated or truncated
    env.close()
    return total / episodes
