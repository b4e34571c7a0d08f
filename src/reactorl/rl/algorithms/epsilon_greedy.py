# SPDX-License-Identifier: Apache-2.0
"""The epsilon schedule and the choice of actions that DQN and Q-learning share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from reactorl.rl.flow.algorithm import require

if TYPE_CHECKING:
    from reactorl.rl.flow.algorithm import Array, Random


class EpsilonSchedule(Protocol):
    """Hyper-parameters of a linear schedule."""

    @property
    def start_e(self) -> float:
        """Initial epsilon."""

    @property
    def end_e(self) -> float:
        """Final epsilon."""

    @property
    def exploration_fraction(self) -> float:
        """Fraction of the training over which epsilon is annealed."""


def epsilon(schedule: EpsilonSchedule, progress: float) -> float:
    """Return epsilon after a fraction of the training."""
    done = min(1.0, progress / schedule.exploration_fraction)
    return schedule.start_e + done * (schedule.end_e - schedule.start_e)


def check_epsilon(schedule: EpsilonSchedule) -> None:
    """Check the hyper-parameters.

    Raises:
        FlowError: One is invalid.
    """
    fraction = schedule.exploration_fraction
    require(0 < fraction <= 1, schedule, "exploration_fraction", "in (0, 1]")
    for name in ("start_e", "end_e"):
        require(0 <= getattr(schedule, name) <= 1, schedule, name, "in [0, 1]")


def best_actions(values: Array, mask: Array | None) -> Array:
    """Return the allowed action with the largest value, of equal ones the first."""
    if mask is not None:
        values = np.where(mask, values, -np.inf)
    best: Array = np.argmax(values, axis=1)
    return best


def random_actions(
    random: Random, num_actions: int, count: int, mask: Array | None
) -> Array:
    """Return uniform actions, of the allowed ones."""
    if mask is None:
        return random.integers(num_actions, size=count)
    return nth_allowed(mask, random.integers(mask.sum(axis=1)))


def nth_allowed(mask: Array, numbers: Array) -> Array:
    """Return the n-th allowed action of each row, counted from 0."""
    found: Array = np.argmax(np.cumsum(mask, axis=1) > numbers[:, None], axis=1)
    return found
