# SPDX-License-Identifier: Apache-2.0
"""Results, actions and progress of all sub-environments in shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reactorl.rl.envs.process.protocol import IDLE, Layout
from reactorl.rl.envs.process.shared_memory import Measure, SharedMemory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Description
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.process.shard import ProcessShard


class SharedArrays:
    """Shared memory that is assigned to all shards.

    Args:
        shards: The shards.
        description: The spaces of observations and actions. None: results and actions
            are sent as messages, and the memory holds only the progress.
        count: Number of sub-environments of all shards.
        pooled: Whether there are spare observation buffers; see ``BufferPool``.
    """

    def __init__(
        self,
        shards: Sequence[ProcessShard],
        description: Description | None,
        count: int,
        *,
        pooled: bool = False,
    ) -> None:
        spaces = None
        if description is not None:
            spaces = description.observation_space, description.action_space

        def layout(worker: int, size: int) -> Layout:
            return Layout(size, spaces, count, worker, len(shards), pooled)

        measure = Measure()
        layout(0, 0).cut(measure)
        self._memory = SharedMemory.create(measure.size)
        self._shared = layout(0, measure.size).cut(self._memory)
        self._shared.progress.current[:] = IDLE
        for worker, shard in enumerate(shards):
            shard.assign(layout(worker, measure.size), self._memory, self._shared)

    @property
    def results(self) -> Arrays:
        """The results of steps and resets."""
        assert self._shared.results is not None
        return self._shared.results

    @property
    def actions(self) -> Array | None:
        """The actions, if they form one array."""
        slots = self._shared.actions
        batch = None if slots is None else slots.batch()
        return batch if isinstance(batch, np.ndarray) else None

    def close(self) -> None:
        """Close the file; the memory lives as long as an array of it."""
        self._memory.close()
