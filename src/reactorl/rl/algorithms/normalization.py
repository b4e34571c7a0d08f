# SPDX-License-Identifier: Apache-2.0
"""Normalization of observations and rewards by running statistics.

The statistics belong to the learner's state. It sees all environments in their order,
so that they do not depend on the number of workers; rollouts get them with the weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reactorl.rl.algorithms import pytree
from reactorl.rl.algorithms._jax import jax, jnp

LIMIT = 10.0
"""Normalized observations and rewards are clipped to this range."""


class RunningStatistics(NamedTuple):
    """Count, mean and variance of the rows so far, by component."""

    count: Any
    mean: Any
    variance: Any

    @property
    def scale(self) -> Any:  # noqa: ANN401
        """The factor that gives a standard deviation of 1."""
        return 1 / jnp.sqrt(self.variance + 1e-8)

    @classmethod
    def initial(cls, *shape: int) -> RunningStatistics:
        """Return the statistics of no rows: mean 0, variance 1."""
        zero, one = np.zeros(shape, np.float32), np.ones(shape, np.float32)
        return cls(*pytree.on_device((np.float32(0), zero, one)))

    def updated(self, rows: Any) -> RunningStatistics:  # noqa: ANN401
        """Return the statistics with more rows."""
        count, mean, variance = len(rows), rows.mean(axis=0), rows.var(axis=0)
        total = self.count + count
        delta = mean - self.mean
        squares = self.variance * self.count + variance * count
        squares = squares + delta**2 * self.count * count / total
        mean = self.mean + delta * count / total
        return RunningStatistics(total, mean, squares / total)


def normalized(rows: Any, mean: Any, scale: Any, xp: Any) -> Any:  # noqa: ANN401
    """Return rows with mean 0 and standard deviation 1, clipped.

    Mean and scale are flat; rows have the shape of observations.
    """
    shape = rows.shape[1:]
    mean, scale = mean.reshape(shape), scale.reshape(shape)
    return xp.clip((rows - mean) * scale, -LIMIT, LIMIT)


class ReturnStatistics(NamedTuple):
    """Statistics of discounted returns, which give rewards their scale."""

    statistics: RunningStatistics
    returns: Any
    """Discounted sum of the rewards of the current episode, by environment."""

    @classmethod
    def initial(cls, num_envs: int) -> ReturnStatistics:
        """Return the statistics before the first step."""
        returns = pytree.on_device(np.zeros(num_envs, np.float32))
        return cls(RunningStatistics.initial(), returns)

    def updated(self, rewards: Any, ended: Any, gamma: float) -> ReturnStatistics:  # noqa: ANN401
        """Return the statistics with more steps.

        Args:
            rewards: ``[step, environment]``.
            ended: Whether a step ended its episode.
            gamma: Discount factor.
        """

        def one(returns: Any, step: Any) -> Any:  # noqa: ANN401
            reward, end = step
            found = gamma * returns + reward
            return jnp.where(end, 0, found), found

        returns, found = jax.lax.scan(one, self.returns, (rewards, ended))
        return ReturnStatistics(self.statistics.updated(found.reshape(-1)), returns)

    def normalized(self, rewards: Any) -> Any:  # noqa: ANN401
        """Return rewards in units of the standard deviation of returns, clipped."""
        return jnp.clip(rewards * self.statistics.scale, -LIMIT, LIMIT)
