# SPDX-License-Identifier: Apache-2.0
"""A process with environments, and what happens when it is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.commands import Description, Reset, Step
from reactorl.rl.failures import stamped
from reactorl.rl.processes.link import Link, ProcessLostError
from reactorl.rl.processes.memory import Measure, SharedMemory
from reactorl.rl.processes.messages import IDLE, OBEY, ONE, REVIVE, STEP, Loss, Place
from reactorl.rl.processes.packing import packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reactorl.rl.arrays import Arrays
    from reactorl.rl.commands import Command
    from reactorl.rl.failures import EnvFailure
    from reactorl.rl.processes.messages import Progress
    from reactorl.rl.recipes import Maker
    from reactorl.rl.seat import Rules
    from reactorl.rl.slots import Array

_TRIES: Final = 3
"""How often in a row a process is started anew before it is given up."""


class Team:
    """One process, and what to do when it is lost."""

    def __init__(self, indices: range, makers: Sequence[Maker], rules: Rules) -> None:
        self.link = Link(indices, makers, rules)
        self._rules = rules
        self._seeds: dict[int, int | None] = dict.fromkeys(indices)
        self._assignment: tuple[Place, SharedMemory, Any] | None = None
        self._progress: Progress | None = None
        self._arrays: Arrays | None = None

    def assign(
        self, place: Place, memory: SharedMemory, arrays: Arrays, progress: Progress
    ) -> None:
        """Give it the memory for results and actions."""
        self._assignment = place, memory, progress.cells
        self._progress = progress
        self._arrays = arrays
        self.link.assign(place, memory, progress.cells)
        self.link.collect()

    def post(self, command: Command) -> None:
        """Send a command on its way."""
        if isinstance(command, Step) and command.is_shared:
            self.link.post(STEP)
            return
        self._note_seeds(command, self.link.indices)
        self.link.post(OBEY + packed(command.part(self.link.indices)))

    def _note_seeds(self, command: Command, indices: Iterable[int]) -> None:
        if isinstance(command, Reset):
            for index in indices:
                seed = command.seeds[index]
                if seed is not None and (command.mask is None or command.mask[index]):
                    self._seeds[index] = seed
                    if self._progress is not None:
                        self._progress.lives[index] = 0

    def one(self, index: int, command: Command) -> Any:  # noqa: ANN401
        """Let one of them obey, and wait for it."""
        self._note_seeds(command, [index])
        request = ONE + packed((index, command))
        self.link.post(request)
        try:
            return self._received().get(index)
        except ProcessLostError as error:
            return self._after_loss(command, error, only=index).get(index)

    def collect(self, command: Command, tag: str) -> dict[int, Any]:
        """Wait for the replies; start the process anew if it is lost and may be."""
        try:
            replies = self._received()
        except ProcessLostError as error:
            replies = self._after_loss(command, error)
        for index, reply in replies.items():
            if isinstance(reply, Description):
                self.link.names[index] = reply.name
        return {index: stamped(reply, tag) for index, reply in replies.items()}

    def _received(self) -> dict[int, Any]:
        found = self.link.collect()
        if found is None:
            return {}
        replies, objects = found
        if objects is not None and self._arrays is not None:
            for index, held in objects.items():
                self._arrays.observations.put_objects(index, iter(held))
        return dict(replies)

    def _after_loss(
        self, command: Command, error: ProcessLostError, only: int | None = None
    ) -> dict[int, Any]:
        """Start the process anew and go on; or say what was lost, if that may not be.

        Args:
            command: What it was told last.
            error: How it was lost.
            only: The environment that was told; None: all.
        """
        failures = self.link.failures(error, self._steps(command))
        stepping, resetting = isinstance(command, Step), isinstance(command, Reset)
        if self._rules.restart == "never" or not (stepping or resetting):
            return dict(failures)
        for _ in range(_TRIES):
            try:
                self.link.restart()
                if self._assignment is not None:
                    self.link.assign(*self._assignment)
                    self.link.collect()
                told = self.link.indices if only is None else [only]
                replies = self._revived(failures, told if stepping else [])
                if stepping:
                    return replies
                if only is None:
                    self.post(command)
                else:
                    self.link.post(ONE + packed((only, command)))
                return self._received()
            except ProcessLostError as again:
                failures = self.link.failures(again, self._steps(command))
        return dict(failures)

    def _steps(self, command: Command) -> dict[int, int]:
        """Return how many steps each environment had begun."""
        if self._progress is None or self._arrays is None:
            return dict.fromkeys(self.link.indices, 0)
        steps = {index: int(self._progress.steps[index]) for index in self.link.indices}
        at, arrays = self.link.at_work, self._arrays
        resetting = self._rules.autoreset is AutoresetMode.NEXT_STEP and (
            arrays.terminations[at] or arrays.truncations[at]
        )
        if at != IDLE and isinstance(command, Step) and not resetting:
            steps[at] += 1
        return steps

    def _revived(
        self, failures: dict[int, EnvFailure], told: Sequence[int]
    ) -> dict[int, Any]:
        """Let new environments take the places of those that were lost.

        Episodes end with that: those of environments that were told to step at once,
        those of others in their next step.
        """
        # Nobody is told to step or reset before there are arrays.
        assert self._arrays is not None
        assert self._progress is not None
        losses = {}
        for index, failure in failures.items():
            self._progress.lives[index] += 1
            losses[index] = Loss(
                self._seeds[index],
                int(self._progress.lives[index]),
                failure.step,
                failure,
                self._arrays.observations.objects(index),
                index in told,
            )
        self.link.post(REVIVE + packed(losses))
        return self._received()


@dataclass(frozen=True, slots=True)
class Shared:
    """What all processes see."""

    memory: SharedMemory
    arrays: Arrays
    actions: Array | None
    """Where actions go, if they are an array."""


def share_arrays(teams: Sequence[Team], description: Description, count: int) -> Shared:
    """Make arrays for so many environments, and let all processes have them."""

    def place(cell: int, size: int) -> Place:
        return Place(
            size,
            description.observation_space,
            description.action_space,
            count,
            cell,
            len(teams),
        )

    measure = Measure()
    place(0, 0).arrays(measure)
    memory = SharedMemory.create(measure.size)
    arrays, actions, progress = place(0, measure.size).arrays(memory)
    progress.cells[:] = IDLE
    for cell, team in enumerate(teams):
        team.assign(place(cell, measure.size), memory, arrays, progress)
    batch = actions.batch()
    return Shared(memory, arrays, batch if isinstance(batch, np.ndarray) else None)
