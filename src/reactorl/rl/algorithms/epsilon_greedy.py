# SPDX-License-Identifier: Apache-2.0
"""The epsilon schedule that DQN and Q-learning share."""

from __future__ import annotations

from typing import Protocol

from reactorl.rl.flow.algorithm import require


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
