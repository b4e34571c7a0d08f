# SPDX-License-Identifier: Apache-2.0
"""A shard in a worker process: commands, replies, and recovery from a lost process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gymnasium.vector import AutoresetMode

from reactorl._util.serialization import serialize
from reactorl.rl.envs.backend import first_failure
from reactorl.rl.envs.commands import Describe, Step
from reactorl.rl.envs.process.protocol import EXECUTE, IDLE, REPLACE, STEP, Loss
from reactorl.rl.envs.process.shared_arrays import SharedArrays
from reactorl.rl.envs.process.worker import ProcessLostError, WorkerProcess
from reactorl.rl.multi_agent.results import NO_LAST, Last, ParallelReset, ParallelStep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl.rl.envs.arrays import Arrays
    from reactorl.rl.envs.commands import Command, Description
    from reactorl.rl.envs.errors import EnvError
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.process.protocol import Layout, Progress, Shared
    from reactorl.rl.envs.process.shared_memory import SharedMemory
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.shard import Replies

_ATTEMPTS: Final = 3
"""How often in a row a lost process is replaced before it counts as failed."""


class ProcessShard:
    """Sub-environments in a worker process; see ``EnvShard``.

    Args:
        makers: Make the environments, by index.
        rules: Settings of all sub-environments.
    """

    def __init__(self, makers: Mapping[int, Maker], rules: Rules) -> None:
        self.worker = WorkerProcess(makers, rules)
        self.indices = self.worker.indices
        self._rules = rules
        self._can_restart = rules.restart != "never"
        self._posted: Command | None = None
        self._seeds: dict[int, int | None] = dict.fromkeys(self.indices)
        self._assignment: tuple[Layout, SharedMemory, Array] | None = None
        self._progress: Progress | None = None
        self._arrays: Arrays | None = None
        self._actions: Array | None = None
        self._ended_before: Array | None = None
        self._last: dict[int, Last] = dict.fromkeys(self.indices, NO_LAST)
        self._own: SharedArrays | None = None

    # -- as any shard -----------------------------------------------------------------

    def open(self) -> None:
        """Wait until the process has made the environments."""
        self.post(Describe())
        first_failure(list(self.collect().values()))
        if self._rules.sub_env is not None:  # results are messages, not arrays
            self._own = SharedArrays([self], None, max(self.indices) + 1)

    def post(self, command: Command) -> None:
        """Send a command to the process."""
        if type(command) is Step:
            command = command.through(self._actions)
        self._posted = command
        self._send(command)

    def collect(self) -> Replies:
        """Wait for the replies; replace the process if it is lost and may be."""
        command, self._posted = self._posted, None
        assert command is not None
        try:
            replies = self._receive()
        except ProcessLostError as error:
            replies = self._recover(command, error)
        if type(command) is Describe:
            names = self.worker.names
            for index, reply in replies.items():
                names[index] = getattr(reply, "name", names[index])
        return replies

    def make_arrays(self, description: Description) -> Arrays:
        """Make shared memory for the results and actions of this shard alone."""
        self._own = SharedArrays([self], description, len(self.indices))
        self._actions = self._own.actions
        return self._own.results

    def close(self) -> None:
        """Let the process close the environments, and wait for its end."""
        self.worker.hang_up()
        failure = self.worker.end()
        if self._own is not None:
            self._own.close()
        if failure is not None:
            raise failure

    # -- remote -----------------------------------------------------------------------

    def assign(self, layout: Layout, memory: SharedMemory, shared: Shared) -> None:
        """Let the process use shared memory for results, actions and progress."""
        self._assignment = layout, memory, shared.progress.current
        self._progress = shared.progress
        self._arrays = shared.results
        self.worker.assign(*self._assignment)
        self.worker.collect()

    def _send(self, command: Command) -> None:
        if self._can_restart and self._arrays is not None:
            # Recovery must know which episodes had ended before this command.
            self._ended_before = self._arrays.terminations | self._arrays.truncations
        if type(command) is Step and command.is_shared:
            self.worker.post(STEP + bytes([command.buffer]))
            return
        if command.operation == "reset":
            self._note_seeds(command)
        self.worker.post(EXECUTE + serialize(command.part(self.indices)))

    def _note_seeds(self, command: Command) -> None:
        for index in self.indices:
            seed = command.seed_for(index)
            if seed is not None:
                self._seeds[index] = seed
                if self._progress is not None:
                    self._progress.restarts[index] = 0

    def _receive(self) -> Replies:
        found = self.worker.collect()
        if found is None:
            return {}
        replies, objects = found
        if objects is not None and self._arrays is not None:
            for index, held in objects.items():
                self._arrays.observations.put_objects(index, iter(held))
        if self._arrays is None:
            for index, reply in replies.items():
                if isinstance(reply, ParallelStep | ParallelReset):
                    self._last[index] = Last.of(reply, seen=self._can_restart)
        return dict(replies)

    # -- recovery ---------------------------------------------------------------------

    def _recover(self, command: Command, error: ProcessLostError) -> Replies:
        """Replace the process and continue; report the loss if restarts are off.

        Args:
            command: The command that was posted last.
            error: How the process was lost.
        """
        worker, operation = self.worker, command.operation
        failures = worker.failures(error, self._steps(command), operation)
        if not self._can_restart or operation == "query":
            return dict(failures)
        stepping = operation == "step"
        for _ in range(_ATTEMPTS):
            try:
                worker.restart()
                if self._assignment is not None:
                    worker.assign(*self._assignment)
                    worker.collect()
                stepped = [i for i in self.indices if stepping and command.includes(i)]
                replies = self._replace(failures, stepped)
                if stepping:
                    return replies
                self._send(command)
                return self._receive()
            except ProcessLostError as again:
                failures = worker.failures(again, self._steps(command), operation)
        return dict(failures)

    def _replace(
        self, failures: dict[int, EnvError], stepped: Sequence[int]
    ) -> Replies:
        """Let the new process continue for the lost sub-environments.

        Their episodes end, unless they had ended: those of the sub-environments that
        were stepped at once, those of others in their next step.
        """
        assert self._progress is not None  # steps and resets come after ``assign``
        losses = {}
        for index, failure in failures.items():
            self._progress.restarts[index] += 1
            losses[index] = Loss(
                self._seeds[index],
                int(self._progress.restarts[index]),
                failure.step,
                failure,
                self._last[index]
                if self._arrays is None
                else self._arrays.observations.objects(index),
                self._is_over(index),
                index in stepped,
            )
        self.worker.post(REPLACE + serialize(losses))
        return self._receive()

    def _steps(self, command: Command) -> dict[int, int]:
        """Return the number of steps that each sub-environment had begun."""
        if self._progress is None:
            return dict.fromkeys(self.indices, 0)
        steps = {index: int(self._progress.steps[index]) for index in self.indices}
        current = self.worker.current
        if (
            current != IDLE
            and command.operation == "step"
            and not self._is_over(current)
        ):
            steps[current] += 1
        return steps

    def _is_over(self, index: int) -> bool:
        """Return whether the episode had ended and the next one had not begun."""
        if self._rules.autoreset is AutoresetMode.SAME_STEP:
            return False  # the next one begins in the same step
        if self._arrays is None:
            return not self._last[index].agents
        if self._ended_before is not None:
            return bool(self._ended_before[index])
        return bool(self._arrays.terminations[index] or self._arrays.truncations[index])
