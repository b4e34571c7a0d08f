# SPDX-License-Identifier: Apache-2.0
"""Transitions in a ring: new rows replace the oldest.

The next observation of a transition is the observation of the transition after it, so
it is stored only where there is none: at the end of an episode, and in the newest
transition of an environment. That halves the memory for images. The same links from a
transition to the one after it give n-step returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reactorl.rl.flow.trajectory import transitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.trajectory import Array, Trajectory

_SHARED = "next_observations"
_AT_END = ("terminations", "truncations")
"""Columns that n-step transitions have from their last step."""


class TransitionStore:
    """Columns of a fixed capacity, in which new rows replace the oldest.

    Args:
        capacity: Number of transitions.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.columns: dict[str, Array] = {}
        self.clear()

    def clear(self) -> None:
        """Forget all transitions."""
        self.count = 0
        """Transitions added so far."""
        self._links = np.zeros(self.capacity, np.int64)
        # The row of the next transition of the same episode; if there is none yet or
        # the episode ended, -1 - k, where k is the place of the next observation.
        self._last = _Places()
        self._newest: dict[int, Array] = {}
        # By rollout, the number of each environment's newest transition, counted from
        # the first one ever added; -1 if an episode ended with it.

    @property
    def size(self) -> int:
        """Number of transitions in the store."""
        return min(self.count, self.capacity)

    def add(self, rollout: int, trajectory: Trajectory) -> Array:
        """Add the transitions of a trajectory, in order; return their rows.

        Args:
            rollout: Which rollout it is from: its trajectories follow each other.
            trajectory: At most ``capacity`` transitions.

        Raises:
            ValueError: There are more.
        """
        steps, width = trajectory.steps, trajectory.columns["rewards"].shape[1]
        if steps > self.capacity:
            msg = f"trajectory must have at most {self.capacity} steps, got {steps}"
            raise ValueError(msg)
        new = transitions(trajectory)
        numbers = self.count + np.arange(steps)
        rows = numbers % self.capacity
        self._last.release(self._links[rows])
        self.count += steps
        for name, values in new.items():
            if name == _SHARED:
                continue
            if name not in self.columns:
                shape = (self.capacity, *values.shape[1:])
                self.columns[name] = np.zeros(shape, values.dtype)
            self.columns[name][rows] = values
        self._link(rollout, width, numbers, new)
        return rows

    def _link(
        self, rollout: int, width: int, numbers: Array, new: Mapping[str, Array]
    ) -> None:
        """Link transitions of the same environment, which are ``width`` rows apart."""
        rows = numbers % self.capacity
        before = self._newest.get(rollout)
        if before is not None:
            # Those that were replaced in the meantime have no row any more.
            alive = before >= max(0, self.count - self.capacity)
            earlier = before[alive] % self.capacity
            self._last.release(self._links[earlier])
            self._links[earlier] = rows[:width][alive]
        self._links[rows[:-width]] = rows[width:]
        ended = new["terminations"] | new["truncations"]
        alone = ended.copy()
        alone[-width:] = True
        self._links[rows[alone]] = -1 - self._last.put(new[_SHARED][alone])
        self._newest[rollout] = np.where(ended[-width:], -1, numbers[-width:])

    # -- drawing ----------------------------------------------------------------------

    def take(
        self, rows: Array, n_step: int = 1, gamma: float = 1.0
    ) -> dict[str, Array]:
        """Return transitions, or n-step transitions, as columns shaped like ``rows``.

        An n-step transition has the discounted sum of up to n rewards, and the next
        observation, termination and truncation of the last one of them. It has fewer
        rewards if the episode ends earlier or its newest transition comes earlier, so
        ``discounts`` has the factor of the next observation's value: gamma to the power
        of the number of rewards.
        """
        found: dict[str, Array] = {}
        last = rows
        if n_step > 1:
            last, found["rewards"], found["discounts"] = self._returns(
                rows, n_step, gamma
            )
        for name, column in self.columns.items():
            if name not in found:
                at_end = name in _AT_END or name.startswith("next_")
                found[name] = column[last if at_end else rows]
        links = self._links[last]
        alone = links < 0
        found[_SHARED] = self.columns["observations"][np.where(alone, 0, links)]
        found[_SHARED][alone] = self._last.values(links[alone])
        return found

    def _returns(
        self, rows: Array, n_step: int, gamma: float
    ) -> tuple[Array, Array, Array]:
        """Return the last rows of n-step transitions, their rewards and discounts."""
        rewards = self.columns["rewards"]
        last, total = rows, rewards[rows]
        discounts = np.full(rows.shape, gamma)
        for _ in range(n_step - 1):
            links = self._links[last]
            more = links >= 0  # once there is no next row, there is none from then on
            last = np.where(more, links, last)
            total = total + np.where(more, discounts * rewards[last], 0.0)
            discounts = np.where(more, discounts * gamma, discounts)
        return last, total, discounts

    # -- checkpoints ------------------------------------------------------------------

    def save(self) -> Data:
        """Return the content as plain data."""
        size = self.size
        links = self._links[:size]
        alone = links < 0
        return {
            "count": self.count,
            "columns": {name: c[:size].copy() for name, c in self.columns.items()},
            "links": np.where(alone, -1, links),
            "last": self._last.values(links[alone]) if size else None,
            "newest": [[key, numbers] for key, numbers in self._newest.items()],
        }

    def load(self, saved: Data) -> None:
        """Restore saved content into an empty store."""
        self.count, size = saved["count"], len(saved["links"])
        for name, values in saved["columns"].items():
            shape = (self.capacity, *values.shape[1:])
            self.columns[name] = np.zeros(shape, values.dtype)
            self.columns[name][:size] = values
        links = self._links[:size]
        links[:] = saved["links"]
        if size:
            links[links < 0] = -1 - self._last.put(saved["last"])
        self._newest = {int(key): numbers for key, numbers in saved["newest"]}


class _Places:
    """Observations in places that are used again once they are released."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._array: Array | None = None

    def put(self, values: Array) -> Array:
        """Store values; return the place of each."""
        if self._array is None:
            self._array = np.empty((0, *values.shape[1:]), values.dtype)
        missing = len(values) - len(self._free)
        if missing > 0:
            size = len(self._array)
            more = max(missing, size // 2)  # amortizes copying
            room = np.empty((more, *values.shape[1:]), values.dtype)
            self._array = np.concatenate([self._array, room])
            self._free.extend(reversed(range(size, size + more)))
        places = np.array([self._free.pop() for _ in values], np.int64)
        self._array[places] = values
        return places

    def release(self, links: Array) -> None:
        """Release the places that negative links stand for."""
        self._free.extend((-1 - links[links < 0]).tolist())

    def values(self, links: Array) -> Array:
        """Return the values at the places that links stand for."""
        assert self._array is not None
        found: Array = self._array[-1 - links]
        return found
