# SPDX-License-Identifier: Apache-2.0
"""Environments in other processes: a bank of reactors, one for each process.

::

    command ---> crew[0..m).command      (posts the request)
                 crew[0..m).sent ---> gate.sent
                 crew[0..m).gather <--- gate.all
    reply   <--- crew[0..m).reply        (waits for the reply)

The gate lets all requests out before anybody waits. Everything happens at one tag.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl import (
    Input,
    MultiInput,
    MultiOutput,
    Output,
    Reactor,
    bank,
    drive,
    param,
    reaction,
)
from reactorl.rl.commands import Describe, Reset, Step
from reactorl.rl.failures import EnvFailure
from reactorl.rl.placement import can_have_processes, cores, parts
from reactorl.rl.processes.child import IDLE, OBEY, REVIVE, STEP, Loss, Place
from reactorl.rl.processes.link import Link, ProcessLostError
from reactorl.rl.processes.memory import Measure, SharedMemory
from reactorl.rl.processes.packing import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import Tag
    from reactorl.rl.arrays import Arrays
    from reactorl.rl.commands import Command, Description, Reply
    from reactorl.rl.recipes import Maker
    from reactorl.rl.seat import Rules

_TRIES: Final = 3
"""How often in a row a process is started anew before it is given up."""


class Crew(Reactor):
    """Has one process, which obeys a command at the tag at which it arrives."""

    command = Input[Any]()
    sent = Output[bool]()
    gather = Input[bool]()
    reply = Output[Any]()

    teams: Sequence[Team] = param()
    bank_index: int = param(0)

    def setup(self) -> None:
        """Find the process."""
        self.team = self.teams[self.bank_index]

    @reaction(command, effects=[sent])
    def send(self) -> None:
        """Post the request."""
        self.team.post(self.command.value)
        self.sent.set(True)

    @reaction(gather, sources=[command], effects=[reply])
    def collect(self) -> None:
        """Wait for the reply."""
        replies = self.team.collect(self.command.value, str(self.tag))
        if replies:
            self.reply.set(replies)


class Gate(Reactor):
    """Opens when all requests are on their way."""

    sent = MultiInput[bool]()
    all = Output[bool]()

    @reaction(sent, effects=[all])
    def open(self) -> None:
        """Let all of them wait now."""
        self.all.set(True)


class Processes(Reactor):
    """All environments of a vector."""

    command = Input[Any]()
    reply = MultiOutput[Any](lambda self: len(self.teams))

    teams: Sequence[Team] = param()

    crew = bank(Crew(teams=teams), width=lambda self: len(self.teams))
    gate = Gate()

    def build(self) -> None:
        """Connect."""
        self.connect(self.command, self.crew.command, broadcast=True)
        self.connect(self.crew.sent, self.gate.sent)
        self.connect(self.gate.all, self.crew.gather, broadcast=True)
        self.connect(self.crew.reply, self.reply)


class Team:
    """One process, and what to do when it is lost."""

    def __init__(self, indices: range, makers: Sequence[Maker], rules: Rules) -> None:
        self.link = Link(indices, makers, rules)
        self._rules = rules
        self._seeds: dict[int, int | None] = dict.fromkeys(indices)
        self._lives = dict.fromkeys(indices, 0)
        self._assignment: tuple[Place, SharedMemory, Any] | None = None
        self._arrays: Arrays | None = None
        self._actions: Any = None

    def assign(
        self, place: Place, memory: SharedMemory, cut: tuple[Arrays, Any, Any]
    ) -> None:
        """Give it the memory for results and actions."""
        arrays, actions, cells = cut
        self._assignment = place, memory, cells
        self._arrays = arrays
        self._actions = actions.batch()
        self.link.assign(place, memory, cells)
        self.link.collect()

    def post(self, command: Command) -> None:
        """Send a command on its way."""
        if isinstance(command, Step) and command.is_shared:
            self.link.post(STEP)
            return
        if isinstance(command, Reset):
            for index in self.link.indices:
                seed = command.seeds[index]
                if seed is not None and (command.mask is None or command.mask[index]):
                    self._seeds[index], self._lives[index] = seed, 0
        self.link.post(OBEY + packed(command.part(self.link.indices)))

    def collect(self, command: Command, tag: str) -> dict[int, Any]:
        """Wait for the replies; start the process anew if it is lost and may be."""
        try:
            replies = self._received()
        except ProcessLostError as error:
            replies = self._after_loss(command, error)
        for index, reply in replies.items():
            if isinstance(reply, EnvFailure):
                replies[index] = reply.at(tag)
        return replies

    def _received(self) -> dict[int, Any]:
        found = self.link.collect()
        if found is None:
            return {}
        replies, objects = found
        if objects is not None and self._arrays is not None:
            for index, held in objects.items():
                self._arrays.observations.put_objects(index, iter(held))
        return dict(replies)

    def _after_loss(self, command: Command, error: ProcessLostError) -> dict[int, Any]:
        failures = self.link.failures(error)
        stepping, resetting = isinstance(command, Step), isinstance(command, Reset)
        if self._rules.restart == "never" or not (stepping or resetting):
            return dict(failures)
        for _ in range(_TRIES):
            try:
                self.link.restart()
                if self._assignment is not None:
                    self.link.assign(*self._assignment)
                    self.link.collect()
                replies = self._revived(failures, cut_off=stepping)
                if resetting:
                    self.post(command)
                    replies = self._received()
            except ProcessLostError as again:
                failures = self.link.failures(again)
            else:
                return replies
        return dict(failures)

    def _revived(
        self, failures: dict[int, EnvFailure], *, cut_off: bool
    ) -> dict[int, Any]:
        losses = {}
        for index, failure in failures.items():
            self._lives[index] += 1
            losses[index] = Loss(
                self._seeds[index], self._lives[index], failure, cut_off
            )
        self.link.post(REVIVE + packed(losses))
        return self._received()


class ProcessHost:
    """Environments in other processes, whose results land in shared memory.

    Args:
        makers: Make the environments.
        rules: What holds for all of them.
        workers: How many processes; None: one for each core.
    """

    def __init__(
        self, makers: Sequence[Maker], rules: Rules, *, workers: int | None
    ) -> None:
        if not can_have_processes():
            msg = (
                "placement='process' needs a POSIX system and an interpreter that "
                "can be started (sys.executable); use placement='thread'"
            )
            raise RuntimeError(msg)
        self._count = len(makers)
        size = min(cores() if workers is None else workers, self._count)
        if size < 1:
            msg = f"workers must be 1 or more, not {workers}"
            raise ValueError(msg)
        self._stack = ExitStack()
        self._teams: list[Team] = []
        try:
            self._stack.callback(self._end)
            for part in parts(self._count, size):
                self._teams.append(Team(part, makers, rules))
            main = Processes(teams=tuple(self._teams))
            session = drive(main, workers=1, freeze=False)
            self._session = self._stack.enter_context(session)
        except BaseException:
            self._stack.close()
            raise

    @property
    def tag(self) -> Tag:
        """The tag of the last command, elapsed."""
        return self._session.tag

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [team.link.pid for team in self._teams]

    def describe(self) -> list[Description]:
        """Return what each environment is."""
        replies: list[Any] = self.obey(Describe())
        for reply in replies:
            if isinstance(reply, EnvFailure):
                raise reply
        return replies

    def make_arrays(self, description: Description) -> Arrays:
        """Make shared memory and let all processes have it."""

        def place(cell: int, size: int) -> Place:
            return Place(
                size,
                description.observation_space,
                description.action_space,
                self._count,
                cell,
                len(self._teams),
            )

        measure = Measure()
        place(0, 0).arrays(measure)
        memory = SharedMemory.create(measure.size)
        self._stack.callback(memory.close)
        cut = place(0, measure.size).arrays(memory)
        arrays, actions, cells = cut
        cells[:] = IDLE
        for cell, team in enumerate(self._teams):
            team.assign(place(cell, measure.size), memory, cut)
        batch = actions.batch()
        self._actions = batch if isinstance(batch, np.ndarray) else None
        return arrays

    def obey(self, command: Command) -> list[Reply]:
        """Let every environment obey, at the next microstep."""
        if isinstance(command, Step):
            command = command.through(self._actions)
        outputs = self._session.step(command=command)
        replies: list[Reply] = [None] * self._count
        for found in outputs.get("reply") or ():
            for index, reply in (found or {}).items():
                replies[index] = reply
        return replies

    def close(self) -> None:
        """Close the environments and end the processes."""
        self._stack.close()

    def _end(self) -> None:
        for team in self._teams:
            team.link.hang_up()
        for team in self._teams:
            team.link.end()
