# SPDX-License-Identifier: Apache-2.0
"""What a process with environments and its parent say to each other.

A request is one byte that says what, and a pickle; so is the reply, whose pickle is
missing where there is nothing to say, as in most steps.
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
    from reactorl.rl.envs.sub_env import Rules

STEP: Final = b"s"  # with the actions in shared memory; and where results land
OBEY: Final = b"o"  # a command
ONE: Final = b"1"  # a command for one environment
ASSIGN: Final = b"a"  # where results belong
REVIVE: Final = b"r"  # go on for environments that a process took with it
CLOSED: Final = b"c"  # the last reply: what was wrong with closing
IDLE: Final = -1
"""In the shared cell: no environment is at work."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What a new process is told first."""

    makers: dict[int, Maker]
    rules: Rules
    registry: dict[str, Any]
    """Environments that may not be registered by whoever imports the same modules."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where results belong, and where actions come from."""

    size: int
    spaces: tuple[Space, Space] | None
    """Of observations and of actions; None: both come and go as messages."""
    count: int
    cell: int
    """Which of the shared cells is this process's own."""
    cells: int
    lends: bool
    """Whether batches of observations are to be given away."""

    def cut(self, allocate: Any) -> Cut:  # noqa: ANN401
        """Cut the memory."""
        results: Arrays | None = None
        actions: Slots | None = None
        if self.spaces is not None:
            observation_space, action_space = self.spaces
            results = Arrays.of(
                observation_space, self.count, allocate, lends=self.lends
            )
            actions = make_slots(action_space, self.count, allocate)
        progress = Progress(
            allocate((self.cells,), np.int64),
            allocate((self.count,), np.int64),
            allocate((self.count,), np.int64),
        )
        return Cut(results, actions, progress)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far environments are, where it can be seen if their process is lost."""

    cells: Array
    """Which environment is at work in each process."""
    steps: Array
    """How many steps each environment has done."""
    lives: Array
    """How many environments came before each, since it was last seeded."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is in shared memory."""

    results: Arrays | None
    actions: Slots | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class Loss:
    """How an environment was lost with its process."""

    seed: int | None
    lives: int
    steps: int
    failure: EnvError
    last: Any
    """Of its last observation, what is not in shared memory."""
    is_over: bool
    """Whether its episode had ended before."""
    at_once: bool
    """Whether the loss is told at once; if not, by its next step or reset."""
