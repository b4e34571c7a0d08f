# SPDX-License-Identifier: Apache-2.0
"""A process with environments, and what happens when it is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium.vector import AutoresetMode

from reactorl.rl.envs.commands import Describe, Step
from reactorl.rl.envs.errors import stamped
from reactorl.rl.envs.process.connection import Link, ProcessLostError
from reactorl.rl.envs.process.protocol import IDLE, OBEY, ONE, REVIVE, STEP, Loss, Place
from reactorl.rl.envs.process.serialization import packed
from reactorl.rl.envs.process.shared_memory import Measure, SharedMemory
from reactorl.rl.multi_agent.sub_env import NOTHING, Beginning, Last, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command, Description
    from reactorl.rl.envs.errors import EnvError
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.process.protocol import Cut, Progress
    from reactorl.rl.envs.sub_env import Rules

_TRIES: Final = 3
"""How often in a row a process is started anew before it is given up."""


class Team:
    """One process, and what to do when it is lost."""

    def __init__(self, indices: range, makers: Sequence[Maker], rules: Rules) -> None:
        self.link = Link(indices, makers, rules)
        self._rules = rules
        self._remembers = rules.restart != "never"
        self._seeds: dict[int, int | None] = dict.fromkeys(indices)
        self._assignment: tuple[Place, SharedMemory, Any] | None = None
        self._progress: Progress | None = None
        self._arrays: Arrays | None = None
        self._over: Array | None = None
        self._last: dict[int, Last] = dict.fromkeys(indices, NOTHING)

    def assign(self, place: Place, memory: SharedMemory, cut: Cut) -> None:
        """Give it the memory for results and actions."""
        self._assignment = place, memory, cut.progress.cells
        self._progress = cut.progress
        self._arrays = cut.results
        self.link.assign(place, memory, cut.progress.cells)
        self.link.collect()

    def post(self, command: Command) -> None:
        """Send a command on its way."""
        self._note_ends()
        if isinstance(command, Step) and command.is_shared:
            self.link.post(STEP + bytes([command.place]))
            return
        self._note_seeds(command, self.link.indices)
        self.link.post(OBEY + packed(command.part(self.link.indices)))

    def _note_ends(self) -> None:
        """Remember whose episodes have ended before a command changes that."""
        if self._remembers and self._arrays is not None:
            self._over = self._arrays.terminations | self._arrays.truncations

    def _is_over(self, index: int) -> bool:
        """Return whether an episode had ended, and nothing had begun since."""
        if self._rules.autoreset is AutoresetMode.SAME_STEP:
            return False  # there, the next one begins at once
        if self._arrays is None:
            return not self._last[index].agents
        if self._over is not None:
            return bool(self._over[index])
        return bool(self._arrays.terminations[index] or self._arrays.truncations[index])

    def _note_seeds(self, command: Command, indices: Iterable[int]) -> None:
        if command.deed == "reset":
            for index in indices:
                seed = command.seed_for(index)
                if seed is not None:
                    self._seeds[index] = seed
                    if self._progress is not None:
                        self._progress.lives[index] = 0

    def one(self, index: int, command: Command) -> Any:  # noqa: ANN401
        """Let one of them obey, and wait for it."""
        self._note_ends()
        self._note_seeds(command, [index])
        request = ONE + packed((index, command))
        self.link.post(request)
        try:
            return self._received().get(index)
        except ProcessLostError as error:
            return self._after_loss(command, error, only=index).get(index)

    def collect(
        self, command: Command, tag: Callable[[], str] | None
    ) -> dict[int, Any]:
        """Wait for the replies; start the process anew if it is lost and may be.

        Args:
            command: What was asked for.
            tag: Returns the tag for failures; None: somebody else will say.
        """
        try:
            replies = self._received()
        except ProcessLostError as error:
            replies = self._after_loss(command, error)
        if isinstance(command, Describe):
            for index, reply in replies.items():
                self.link.names[index] = getattr(reply, "name", self.link.names[index])
        if tag is None:
            return replies
        return {index: stamped(reply, tag) for index, reply in replies.items()}

    def _received(self) -> dict[int, Any]:
        found = self.link.collect()
        if found is None:
            return {}
        replies, objects = found
        if objects is not None and self._arrays is not None:
            for index, held in objects.items():
                self._arrays.observations.put_objects(index, iter(held))
        if self._arrays is None:
            for index, reply in replies.items():
                if isinstance(reply, Turn | Beginning):
                    self._last[index] = Last.of(reply, seen=self._remembers)
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
        failures = self.link.failures(error, self._steps(command), command.deed)
        stepping = command.deed == "step"
        if not self._remembers or command.deed == "ask":
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
                failures = self.link.failures(again, self._steps(command), command.deed)
        return dict(failures)

    def _steps(self, command: Command) -> dict[int, int]:
        """Return how many steps each environment had begun."""
        if self._progress is None:
            return dict.fromkeys(self.link.indices, 0)
        steps = {index: int(self._progress.steps[index]) for index in self.link.indices}
        at = self.link.at_work
        if at != IDLE and command.deed == "step" and not self._is_over(at):
            steps[at] += 1
        return steps

    def _revived(
        self, failures: dict[int, EnvError], told: Sequence[int]
    ) -> dict[int, Any]:
        """Let new environments take the places of those that were lost.

        Episodes end with that, unless they had: those of environments that were told to
        step at once, those of others in their next step.
        """
        # Nobody is told to step or reset before there is memory.
        assert self._progress is not None
        losses = {}
        for index, failure in failures.items():
            self._progress.lives[index] += 1
            losses[index] = Loss(
                self._seeds[index],
                int(self._progress.lives[index]),
                failure.step,
                failure,
                self._last[index]
                if self._arrays is None
                else self._arrays.observations.objects(index),
                self._is_over(index),
                index in told,
            )
        self.link.post(REVIVE + packed(losses))
        return self._received()


@dataclass(frozen=True, slots=True)
class Shared:
    """What all processes see."""

    memory: SharedMemory
    cut: Cut

    @property
    def arrays(self) -> Arrays:
        """Where results are."""
        assert self.cut.results is not None
        return self.cut.results

    @property
    def actions(self) -> Array | None:
        """Where actions go, if they are an array."""
        batch = None if self.cut.actions is None else self.cut.actions.batch()
        return batch if isinstance(batch, np.ndarray) else None


def share(
    teams: Sequence[Team],
    description: Description | None,
    count: int,
    *,
    lends: bool = False,
) -> Shared:
    """Make memory for so many environments, and let all processes have it.

    Args:
        teams: The processes.
        description: What results and actions are; None: they are not in this memory,
            which then only shows how far environments are.
        count: How many environments there are.
        lends: Whether batches of observations are to be given away.
    """
    spaces = None
    if description is not None:
        spaces = description.observation_space, description.action_space

    def place(cell: int, size: int) -> Place:
        return Place(size, spaces, count, cell, len(teams), lends)

    measure = Measure()
    place(0, 0).cut(measure)
    memory = SharedMemory.create(measure.size)
    cut = place(0, measure.size).cut(memory)
    cut.progress.cells[:] = IDLE
    for cell, team in enumerate(teams):
        team.assign(place(cell, measure.size), memory, cut)
    return Shared(memory, cut)
