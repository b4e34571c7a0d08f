# SPDX-License-Identifier: Apache-2.0
"""Playing episodes with what was learned, without exploring: for a final score.

Environments are stepped side by side, each for its share of the episodes, whatever
their length: so that short episodes count no more than long ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.training.encoding import Encoder
from reactorl.rl.training.trajectory import Episode

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.recipes import Maker
    from reactorl.rl.training.algorithm import Algorithm, Weights

SIDE_BY_SIDE = 20


def play(
    maker: Maker,
    algorithm: Algorithm,
    weights: Weights,
    *,
    episodes: int,
    seed: int,
    watch: Callable[[Any], None] | None = None,
) -> list[Episode]:
    """Return episodes, in the order of environments.

    Args:
        maker: Makes an environment.
        algorithm: How to act.
        weights: What was learned.
        episodes: How many.
        seed: Of the first environment; others have the next ones.
        watch: Is called with the first environment, after each of its resets and
            steps; then there is only one.
    """
    count = 1 if watch is not None else min(episodes, SIDE_BY_SIDE)
    shares = [episodes // count + (k < episodes % count) for k in range(count)]
    envs: list[Any] = []
    found: list[list[Episode]] = [[] for _ in range(count)]
    try:
        envs.extend(maker() for _ in range(count))
        encode = Encoder(envs[0].observation_space).one
        rows = [encode(env.reset(seed=seed + k)[0]) for k, env in enumerate(envs)]
        scores, lengths = np.zeros(count), np.zeros(count, np.int64)
        going = list(range(count))
        while going:
            if watch is not None:
                watch(envs[0])
            chosen = algorithm.act_best(weights, np.stack([rows[k] for k in going]))
            for k, action in zip(tuple(going), chosen, strict=True):
                observation, reward, terminated, truncated, _ = envs[k].step(action)
                scores[k] += reward
                lengths[k] += 1
                if terminated or truncated:
                    found[k].append(Episode(float(scores[k]), int(lengths[k])))
                    scores[k] = lengths[k] = 0
                    if watch is not None:
                        watch(envs[k])
                    if len(found[k]) == shares[k]:
                        going.remove(k)
                        continue
                    observation, _ = envs[k].reset()
                rows[k] = encode(observation)
    finally:
        for env in envs:
            env.close()
    return [episode for mine in found for episode in mine]
