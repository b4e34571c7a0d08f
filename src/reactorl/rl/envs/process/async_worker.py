# SPDX-License-Identifier: Apache-2.0
"""Processes for a pool: each has a thread that speaks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reactorl.rl.envs.placement import parts
from reactorl.rl.envs.process.worker import Team, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command, Description
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.process.shared_memory import SharedMemory
    from reactorl.rl.envs.sub_env import Rules


class ProcessStation:
    """Environments of one process."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def obey(self, command: Command) -> dict[int, Any]:
        """Let all of them obey."""
        self._team.post(command)
        return self._team.collect(command, None)

    def one(self, index: int, command: Command) -> Any:  # noqa: ANN401
        """Let one of them obey."""
        return self._team.one(index, command)

    def close(self) -> None:
        """Let the process close them, and end it."""
        self._team.link.hang_up()
        failure = self._team.link.end()
        if failure is not None:
            raise failure


class ProcessStations:
    """All processes of a pool."""

    def __init__(self, makers: Sequence[Maker], rules: Rules, size: int) -> None:
        self._count = len(makers)
        self._teams: list[Team] = []
        self._memory: SharedMemory | None = None
        try:
            for part in parts(self._count, size):
                self._teams.append(Team(part, makers, rules))
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [team.link.pid for team in self._teams]

    def station(self, part: range) -> ProcessStation:
        """Return the station for some environments."""
        return ProcessStation(next(t for t in self._teams if t.link.indices == part))

    def make_arrays(self, description: Description) -> Arrays:
        """Make shared memory and let all processes have it."""
        shared = share(self._teams, description, self._count)
        self._memory = shared.memory
        return shared.arrays

    def close(self) -> None:
        """End all processes that are left, and give up the memory."""
        for team in self._teams:
            team.link.hang_up()
        for team in self._teams:
            team.link.end()
        if self._memory is not None:
            self._memory.close()
