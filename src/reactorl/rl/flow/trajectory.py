# SPDX-License-Identifier: Apache-2.0
"""Trajectories: what a rollout collects in an iteration."""

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

    episode_return: float
    """Sum of rewards; with several agents, the mean of their sums."""
    length: int
    by_agent: tuple[tuple[str, float], ...] = ()
    """With several agents, the name and the return of each."""
    is_cut: bool = False
    """Whether an evaluation cut it at its limit of steps; see ``eval_max_steps``."""


@public
@dataclass(frozen=True, slots=True)
class Trajectory:
    """Transitions of some environments, in arrays ``[step, environment, ...]``.

    ``next_observations`` are those that the actions led to: at the end of an episode
    its last one, not the first of the next episode. If environments give action masks,
    ``action_masks`` and ``next_action_masks`` are those of both observations.
    """

    columns: dict[str, Array]
    last_observations: Array
    """The current observations of the environments."""
    episodes: tuple[Episode, ...]

    def serialize(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "columns": self.columns,
            "last_observations": self.last_observations,
            "episodes": [[e.episode_return, e.length] for e in self.episodes],
        }

    @classmethod
    def deserialize(cls, data: Any) -> Trajectory:  # noqa: ANN401
        """Return one from plain data."""
        episodes = tuple(Episode(float(r), int(n)) for r, n in data["episodes"])
        return cls(data["columns"], data["last_observations"], episodes)

    @property
    def steps(self) -> int:
        """Number of environment steps."""
        length, width = self.columns["rewards"].shape
        return int(length * width)


class Columns:
    """Builds the columns of a trajectory, one step at a time.

    Args:
        steps: How many there will be.
    """

    def __init__(self, steps: int) -> None:
        self.arrays: dict[str, Array] = {}
        self._steps = steps
        self._row = 0

    def put(self, name: str, values: Array) -> Array:
        """Copy values into the current row, and return that row, to be changed."""
        array = self.arrays.get(name)
        if array is None:
            shape = (self._steps, *values.shape)
            array = self.arrays[name] = np.empty(shape, values.dtype)
        row: Array = array[self._row]
        row[...] = values
        return row

    def go_to(self, row: int) -> None:
        """Continue with this row."""
        self._row = row


def concatenate(trajectories: Sequence[Trajectory]) -> dict[str, Array]:
    """Return the trajectories of several rollouts as one batch, in their order."""
    first = trajectories[0].columns
    together = {
        name: np.concatenate([t.columns[name] for t in trajectories], axis=1)
        for name in first
    }
    last = [t.last_observations for t in trajectories]
    return {**together, "last_observations": np.concatenate(last)}


def transitions(trajectory: Trajectory) -> dict[str, Array]:
    """Return the transitions as rows, in the order in which they were made."""
    return {
        name: column.reshape(-1, *column.shape[2:])
        for name, column in trajectory.columns.items()
    }
