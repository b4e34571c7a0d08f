# SPDX-License-Identifier: Apache-2.0
"""Lock-step backend with worker processes: post to all shards, then collect from all.

Each command has a tag of its own, one microstep after the last.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from reactorl import Tag
from reactorl._util.machine import usable_cores
from reactorl.rl.envs.backend import first_failure
from reactorl.rl.envs.commands import Describe, Step
from reactorl.rl.envs.errors import stamped
from reactorl.rl.envs.placement import check_processes, parts
from reactorl.rl.envs.process.shard import ProcessShard
from reactorl.rl.envs.process.shared_arrays import SharedArrays
from reactorl.rl.envs.process.worker import end_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command, Description, Reply
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.shard import Replies


class ProcessBackend:
    """Sub-environments in worker processes, with results in shared memory.

    Args:
        makers: Make the environments.
        rules: Settings of all sub-environments.
        workers: Number of processes; None: one for each core.
    """

    def __init__(
        self,
        makers: Sequence[Callable[[], Any]],
        rules: Rules,
        *,
        workers: int | None,
    ) -> None:
        check_processes()
        self._count = len(makers)
        self._rules = rules
        self._actions: Array | None = None
        self._commands = 0
        self._stack = ExitStack()
        self._shards: list[ProcessShard] = []
        size = min(usable_cores() if workers is None else workers, self._count)
        try:
            self._stack.callback(self._end)
            for part in parts(self._count, size):
                self._shards.append(ProcessShard({i: makers[i] for i in part}, rules))
        except BaseException:
            self._stack.close()
            raise

    @property
    def tag(self) -> Tag:
        """The tag of the last command: one microstep for each."""
        return Tag(0, self._commands)

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return [shard.worker.pid for shard in self._shards]

    def describe(self) -> list[Description]:
        """Return a description of each sub-environment."""
        replies: list[Any] = self.execute(Describe())
        first_failure(replies)
        if self._rules.sub_env is not None:  # results are messages, not arrays
            self._share(None)
        return replies

    def make_arrays(self, description: Description, *, pooled: bool) -> Arrays:
        """Make the arrays in shared memory."""
        shared = self._share(description, pooled=pooled)
        self._actions = shared.actions
        return shared.results

    def _share(
        self, description: Description | None, *, pooled: bool = False
    ) -> SharedArrays:
        shared = SharedArrays(self._shards, description, self._count, pooled=pooled)
        self._stack.callback(shared.close)
        return shared

    def execute(self, command: Command) -> list[Reply]:
        """Execute a command in every sub-environment, at the next microstep."""
        replies: list[Reply] = [None] * self._count
        for index, reply in self._run(command).items():
            replies[index] = reply
        return replies

    def step(self, command: Step) -> dict[int, Reply]:
        """Step every sub-environment, at the next microstep."""
        return self._run(command)

    def _run(self, command: Command) -> Replies:
        if type(command) is Step:
            command = command.through(self._actions)
        self._commands += 1
        shards = self._shards
        for shard in shards:
            shard.post(command)
        found: Replies = {}
        for shard in shards:
            replies = shard.collect()
            if replies:
                found |= replies
        return {i: stamped(reply, self._when) for i, reply in found.items()}

    def _when(self) -> str:
        return str(self.tag)

    def close(self) -> None:
        """Close the environments and end the processes."""
        self._stack.close()

    def _end(self) -> None:
        end_all([shard.worker for shard in self._shards])
