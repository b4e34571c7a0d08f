# SPDX-License-Identifier: Apache-2.0
"""Arrays for the results of all sub-environments, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.envs.observation_buffer import Slots, make_slots

if TYPE_CHECKING:
    from reactorl.rl.envs.observation_buffer import Allocate, Array, Space


LARGE: Final = 1 << 16
"""Bytes from which lending a buffer is faster than copying it."""
SPARES: Final = 4
"""Number of spare buffers: two for a caller that keeps two batches, and two more."""


@dataclass(frozen=True, slots=True)
class Arrays:
    """The results of a step; each sub-environment writes its own row only."""

    observations: Slots
    rewards: Array
    terminations: Array
    truncations: Array
    spares: tuple[Slots, ...] = ()
    """Spare observation buffers, each of them one array; see ``BufferPool``."""

    @classmethod
    def of(
        cls,
        space: Space,
        count: int,
        allocate: Allocate = np.zeros,
        *,
        pooled: bool = False,
    ) -> Arrays:
        """Make arrays.

        Args:
            space: The observation space of one environment.
            count: Number of sub-environments.
            allocate: Makes an array of zeros from a shape and a dtype.
            pooled: Whether there are spare buffers if a batch is large.
        """
        observations = make_slots(space, count, allocate)
        spares = SPARES if pooled and _is_large(space, count, observations) else 0
        return cls(
            observations,
            allocate((count,), np.float64),
            allocate((count,), np.bool_),
            allocate((count,), np.bool_),
            tuple(make_slots(space, count, allocate) for _ in range(spares)),
        )

    def results(self) -> tuple[Array, Array, Array]:
        """Return copies of rewards, terminations and truncations."""
        return self.rewards.copy(), self.terminations.copy(), self.truncations.copy()

    def of_some(self, indices: Array) -> tuple[Any, Array, Array, Array]:
        """Return copies of the results of some sub-environments, in that order."""
        return (
            self.observations.some(indices),
            self.rewards[indices],
            self.terminations[indices],
            self.truncations[indices],
        )


def _is_large(space: Space, count: int, slots: Slots) -> bool:
    if not slots.is_array:
        return False
    assert space.shape is not None
    return count * prod(space.shape) * np.dtype(space.dtype).itemsize >= LARGE
