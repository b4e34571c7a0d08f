# SPDX-License-Identifier: Apache-2.0
"""The results of all environments, in arrays with one place for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.slots import Slots, make_slots

if TYPE_CHECKING:
    from reactorl.rl.slots import Allocate, Array, Space


LARGE: Final = 1 << 16
"""Bytes from which a copy takes longer than to share it out."""


@dataclass(frozen=True, slots=True)
class Copying:
    """A copy of all observations, made part by part.

    Whoever has some of them ready copies these, while others are still at work.
    """

    source: Array
    target: Array

    def rows(self, first: int, end: int) -> None:
        """Copy what these environments have observed."""
        self.target[first:end] = self.source[first:end]


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

    def copying(self) -> Copying | None:
        """Return a copy of observations to be made by parts; None: not worth it."""
        batch = self.observations.batch() if self.observations.is_array else None
        if batch is None or batch.nbytes < LARGE:
            return None
        return Copying(batch, np.empty_like(batch))

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
