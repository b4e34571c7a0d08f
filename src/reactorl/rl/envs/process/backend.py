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
from typing import TYPE_CHECKING, Any

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
from reactorl._util.machine import usable_cores
from reactorl.rl.envs.commands import Describe, Step
from reactorl.rl.envs.errors import EnvError
from reactorl.rl.envs.placement import can_have_processes, parts
from reactorl.rl.envs.process.worker import Team, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import Tag
    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command, Description, Reply
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.process.worker import Shared
    from reactorl.rl.envs.sub_env import Rules


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
        replies = self.team.collect(self.command.value, lambda: str(self.tag))
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


class ProcessBackend:
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
        self._rules = rules
        self._actions: Array | None = None
        size = min(usable_cores() if workers is None else workers, self._count)
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
            self._command = self._session.plug("command")
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
            if isinstance(reply, EnvError):
                raise reply
        if self._rules.seat is not None:  # nobody will ask for arrays
            self._share(None)
        return replies

    def make_arrays(self, description: Description, *, lends: bool) -> Arrays:
        """Make shared memory and let all processes have it."""
        shared = self._share(description, lends=lends)
        self._actions = shared.actions
        return shared.arrays

    def _share(self, description: Description | None, *, lends: bool = False) -> Shared:
        shared = share(self._teams, description, self._count, lends=lends)
        self._stack.callback(shared.memory.close)
        return shared

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

    def step(self, command: Step) -> dict[int, Reply]:
        """Let every environment step, at the next microstep."""
        outputs = self._command(command.through(self._actions))
        if not outputs:
            return {}
        found: dict[int, Reply] = {}
        for replies in outputs["reply"]:
            if replies is not None:
                found |= replies
        return found

    def close(self) -> None:
        """Close the environments and end the processes."""
        self._stack.close()

    def _end(self) -> None:
        for team in self._teams:
            team.link.hang_up()
        failures = [team.link.end() for team in self._teams]
        for failure in failures:
            if failure is not None:
                raise failure
