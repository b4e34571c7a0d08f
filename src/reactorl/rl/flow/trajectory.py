# SPDX-License-Identifier: Apache-2.0
"""What a rollout collects in a round, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array: TypeAlias = np.ndarray[Any, Any]


@public
@dataclass(frozen=True, slots=True)
class Episode:
    """An episode that ended."""

    score: float
    """The sum of its rewards; of several agents, the mean of their sums."""
    length: int
    by_agent: tuple[tuple[str, float], ...] = ()
    """Where there are several, their names and sums."""


@public
@dataclass(frozen=True, slots=True)
class Trajectory:
    """Steps of some environments, in arrays ``[step, environment, ...]``.

    ``next_observations`` are those that the actions led to: of an episode that ended
    it is the last one, not the first of the next.
    """

    columns: dict[str, Array]
    last_observations: Array
    """Where the environments are now."""
    episodes: tuple[Episode, ...]

    def saved(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "columns": self.columns,
            "last_observations": self.last_observations,
            "episodes": [[e.score, e.length] for e in self.episodes],
        }

    @classmethod
    def restored(cls, data: Any) -> Trajectory:  # noqa: ANN401
        """Return one from plain data."""
        episodes = tuple(Episode(float(s), int(n)) for s, n in data["episodes"])
        return cls(data["columns"], data["last_observations"], episodes)

    @property
    def steps(self) -> int:
        """How many steps of environments it has."""
        length, width = self.columns["rewards"].shape
        return int(length * width)


class Columns:
    """Steps on their way to a trajectory: row by row into arrays of the right length.

    Args:
        steps: How many there will be.
    """

    def __init__(self, steps: int) -> None:
        self.arrays: dict[str, Array] = {}
        self._steps = steps
        self._row = 0

    def put(self, name: str, values: Array) -> Array:
        """Copy values into the current row, and return that; it may be written to."""
        array = self.arrays.get(name)
        if array is None:
            shape = (self._steps, *values.shape)
            array = self.arrays[name] = np.empty(shape, values.dtype)
        row: Array = array[self._row]
        row[...] = values
        return row

    def next(self) -> None:
        """Go on to the next row."""
        self._row += 1


def side_by_side(trajectories: Sequence[Trajectory]) -> dict[str, Array]:
    """Return the steps of several rollouts as one, in their order."""
    first = trajectories[0].columns
    together = {
        name: np.concatenate([t.columns[name] for t in trajectories], axis=1)
        for name in first
    }
    last = [t.last_observations for t in trajectories]
    return {**together, "last_observations": np.concatenate(last)}


def rows(trajectory: Trajectory) -> dict[str, Array]:
    """Return the steps one below the other, in the order in which they were made."""
    return {
        name: column.reshape(-1, *column.shape[2:])
        for name, column in trajectory.columns.items()
    }
