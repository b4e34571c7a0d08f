# SPDX-License-Identifier: Apache-2.0
"""The memory of a recurrent policy: one row per environment, initial in each episode.

A policy without memory has no rows: all methods do nothing then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Algorithm, Array, Batch, Spaces

PREFIX: Final = "memory/"
"""Of the columns of a trajectory that hold the memory at the start of each step."""


class PolicyMemory:
    """The memory of one policy in several environments.

    Args:
        algorithm: Of the policy.
        spaces: Of the environment, or of the agent.
        count: Number of environments.
    """

    def __init__(self, algorithm: Algorithm, spaces: Spaces, count: int) -> None:
        self._initial = algorithm.initial_memory(spaces, count)
        self.rows: dict[str, Array] | None = None
        """The current memory, by name. Arrays are replaced, never changed: trajectories
        and policies may hold them."""
        if self._initial is not None:
            self.rows = {name: rows.copy() for name, rows in self._initial.items()}

    def of(self, indices: Sequence[int]) -> Batch | None:
        """Return the memory in some environments, in that order."""
        if self.rows is None:
            return None
        chosen = list(indices)
        return {name: rows[chosen] for name, rows in self.rows.items()}

    def put(self, memory: Batch | None, indices: Sequence[int] | None = None) -> None:
        """Store what a policy returned.

        Args:
            memory: By name, one row each.
            indices: Environments of these rows; None: all.
        """
        if self.rows is None:
            return
        assert memory is not None, "a recurrent policy must return its memory"
        chosen = slice(None) if indices is None else list(indices)
        new = {name: rows.copy() for name, rows in self.rows.items()}
        for name, rows in new.items():
            rows[chosen] = memory[name]
        self.rows = new

    def begin(self, indices: Sequence[int]) -> None:
        """Set the memory of environments in which an episode begins."""
        if self._initial is not None and indices:
            chosen = list(indices)
            first = {name: rows[chosen] for name, rows in self._initial.items()}
            self.put(first, chosen)

    def save(self) -> Data:
        """Return the memory as plain data; None if there is none."""
        return None if self.rows is None else dict(self.rows)

    def load(self, saved: Data) -> None:
        """Restore a saved memory."""
        if self.rows is not None:
            self.put(saved)


def memory_columns(memory: Batch | None) -> dict[str, Array]:
    """Return the columns of a trajectory that hold this memory."""
    return {f"{PREFIX}{name}": rows for name, rows in (memory or {}).items()}
