# SPDX-License-Identifier: Apache-2.0
"""The results of all environments, in arrays with one place for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.slots import Slots, make_slots

if TYPE_CHECKING:
    from reactorl.rl.slots import Allocate, Array, Space


@dataclass(frozen=True, slots=True)
class Arrays:
    """What a step of all environments gives; each writes at its own index only."""

    observations: Slots
    rewards: Array
    terminations: Array
    truncations: Array

    @classmethod
    def of(cls, space: Space, count: int, allocate: Allocate = np.zeros) -> Arrays:
        """Return arrays for so many environments with observations of a space."""
        return cls(
            make_slots(space, count, allocate),
            allocate((count,), np.float64),
            allocate((count,), np.bool_),
            allocate((count,), np.bool_),
        )

    def results(self) -> tuple[Array, Array, Array]:
        """Return copies of rewards, terminations and truncations."""
        return self.rewards.copy(), self.terminations.copy(), self.truncations.copy()

    def of_some(self, indices: Array) -> tuple[Any, Array, Array, Array]:
        """Return copies of the results of some environments, in that order."""
        return (
            self.observations.some(indices),
            self.rewards[indices],
            self.terminations[indices],
            self.truncations[indices],
        )
