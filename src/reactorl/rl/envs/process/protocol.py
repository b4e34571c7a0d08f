# SPDX-License-Identifier: Apache-2.0
"""Messages between a worker process and its parent.

A request is one byte and a pickle. The reply is a pickle, or empty if there is nothing
to report, as after most steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.observation_buffer import make_slots

if TYPE_CHECKING:
    from reactorl.rl.envs.errors import EnvError
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array, Slots, Space
    from reactorl.rl.envs.rules import Rules

STEP: Final = b"s"  # actions are in shared memory; then the buffer for observations
EXECUTE: Final = b"x"  # a command
ASSIGN: Final = b"a"  # a layout of shared memory
REPLACE: Final = b"r"  # continue for sub-environments of a lost process
CLOSED: Final = b"c"  # the last reply: the failure of close
IDLE: Final = -1
"""In ``Progress.current``: no sub-environment is running."""


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """The first message to a new worker process."""

    makers: dict[int, Maker]
    rules: Rules
    registry: dict[str, Any]
    """The parent's registered environments."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of shared memory: results, actions and progress."""

    size: int
    spaces: tuple[Space, Space] | None
    """Of observations and of actions; None: both are sent as messages."""
    count: int
    """Number of sub-environments."""
    worker: int
    """The worker process for which it is."""
    workers: int
    """Number of worker processes."""
    pooled: bool
    """Whether there are spare observation buffers; see ``BufferPool``."""

    def cut(self, allocate: Any) -> Shared:  # noqa: ANN401
        """Return the arrays, in a fixed order, from an allocator."""
        results: Arrays | None = None
        actions: Slots | None = None
        if self.spaces is not None:
            observation_space, action_space = self.spaces
            results = Arrays.of(
                observation_space, self.count, allocate, pooled=self.pooled
            )
            actions = make_slots(action_space, self.count, allocate)
        progress = Progress(
            allocate((self.workers,), np.int64),
            allocate((self.count,), np.int64),
            allocate((self.count,), np.int64),
        )
        return Shared(results, actions, progress)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of sub-environments, readable after the loss of their process."""

    current: Array
    """The sub-environment that each worker process runs."""
    steps: Array
    """Number of steps of each sub-environment."""
    restarts: Array
    """Replacements of each sub-environment since its last seed."""


@dataclass(frozen=True, slots=True)
class Shared:
    """The arrays in shared memory."""

    results: Arrays | None
    actions: Slots | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class Loss:
    """The state of a sub-environment when its process was lost."""

    seed: int | None
    restarts: int
    steps: int
    failure: EnvError
    last: Any
    """The parts of its last observation that are not in shared memory."""
    is_over: bool
    """Whether its episode had ended before."""
    report_now: bool
    """Whether to report the loss at once; if not, with the next step or reset."""
