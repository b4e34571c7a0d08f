# SPDX-License-Identifier: Apache-2.0
"""Workers for a pool: environments in their thread, or in a process of theirs."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from reactorl._util.machine import usable_cores
from reactorl.rl.envs.async_backend import Pool, Worker
from reactorl.rl.envs.placement import parts
from reactorl.rl.envs.shard import EnvShard
from reactorl.rl.envs.timeout import HangWatch, no_guard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.envs.async_backend import Batching, Station
    from reactorl.rl.envs.commands import Command
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.placement import Placement
    from reactorl.rl.envs.sub_env import Rules
    from reactorl.rl.envs.timeout import Guard
    from reactorl.rl.vector.batch_log import BatchLog


class ThreadStation:
    """Environments that live in the worker's own thread."""

    def __init__(
        self,
        indices: range,
        makers: Sequence[Maker],
        rules: Rules,
        guard: Callable[[], Guard],
    ) -> None:
        self._company = EnvShard({i: makers[i] for i in indices}, rules, guard)
        self._seats = {seat.index: seat for seat in self._company.seats}

    def obey(self, command: Command) -> dict[int, Any]:
        """Let all of them obey."""
        return self._company.obey(command)

    def one(self, index: int, command: Command) -> Any:  # noqa: ANN401
        """Let one of them obey."""
        return self._company.one(command, self._seats[index])

    def close(self) -> None:
        """Close them."""
        self._company.close()


class PoolHost(Pool):
    """A pool with all it needs.

    Args:
        makers: Make the environments.
        rules: What holds for all of them.
        placement: Where they live.
        workers: How many threads or processes; None: one for each core.
        batch_size: How many form a batch.
        batching: How batches are formed.
        replay: BatchLog to form instead.
    """

    def __init__(
        self,
        makers: Sequence[Maker],
        rules: Rules,
        *,
        placement: Placement,
        workers: int | None,
        batch_size: int,
        batching: Batching,
        replay: BatchLog | None,
    ) -> None:
        count = len(makers)
        size = min(usable_cores() if workers is None else workers, count)
        self._stack = ExitStack()
        make: Callable[[range], Station]
        if placement == "process":
            from reactorl.rl.envs.process.async_worker import ProcessStations

            shared = ProcessStations(makers, rules, size)
            self._stack.callback(shared.close)
            self._shared: ProcessStations | None = shared
            make = shared.station
        else:
            self._shared = None
            guard: Callable[[], Guard] = no_guard
            if rules.timeout is not None:
                watch = HangWatch(rules.timeout)
                self._stack.callback(watch.close)
                guard = watch.guard
            make = partial(ThreadStation, makers=makers, rules=rules, guard=guard)
        staff = [Worker(part, partial(make, part)) for part in parts(count, size)]
        super().__init__(staff, count, batch_size, batching, replay)

    def make_arrays(self, description: Any, *, lends: bool = False) -> Any:  # noqa: ANN401
        """Make the arrays where the environments can write to them."""
        if self._shared is None:
            return super().make_arrays(description)
        return self._shared.make_arrays(description)

    def close(self) -> None:
        """Close the environments, end the workers and their processes."""
        try:
            super().close()
        finally:
            self._stack.close()
