# SPDX-License-Identifier: Apache-2.0
"""The results of all environments, in arrays with one place for each."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.envs.observation_buffer import Slots, make_slots

if TYPE_CHECKING:
    from reactorl.rl.envs.observation_buffer import Allocate, Array, Space


LARGE: Final = 1 << 16
"""Bytes from which a batch takes longer to copy than to give away."""
SPARES: Final = 4
"""A caller who keeps two batches, and two for one who keeps more."""


@dataclass(frozen=True, slots=True)
class Arrays:
    """What a step of all environments gives; each writes at its own index only."""

    observations: Slots
    rewards: Array
    terminations: Array
    truncations: Array
    spares: tuple[Slots, ...] = ()
    """Where observations can be instead, each of them one array."""

    @classmethod
    def of(
        cls,
        space: Space,
        count: int,
        allocate: Allocate = np.zeros,
        *,
        lends: bool = False,
    ) -> Arrays:
        """Return arrays for so many environments.

        Args:
            space: The space of one environment's observations.
            count: How many there are.
            allocate: Makes an array of zeros, with a shape and a type.
            lends: Whether large batches are to be given away; then there are spares.
        """
        observations = make_slots(space, count, allocate)
        spares = SPARES if lends and _is_large(space, count, observations) else 0
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
        """Return copies of the results of some environments, in that order."""
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
