# SPDX-License-Identifier: Apache-2.0
"""Asynchronous backend: sub-environments step while the caller does something else.

Each shard is used by a thread of its own. ``send`` queues commands and returns at once;
``recv`` waits for a batch of results (EnvPool's interface). Which results form a batch
is

* declared: those with the fewest steps, and of these the first by index. It depends on
  step counts alone, so it is reproducible;
* physical: those that are ready first. It is logged and can be replayed.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections import deque
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from reactorl import ReplayError, Tag
from reactorl._util.machine import usable_cores
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.backend import first_failure
from reactorl.rl.envs.commands import Describe, Only
from reactorl.rl.envs.errors import EnvError, ForkedProcessError, stamped
from reactorl.rl.envs.placement import check_processes, parts
from reactorl.rl.envs.shard import LocalShard, execute
from reactorl.rl.envs.shard_thread import ShardThread
from reactorl.rl.envs.timeout import HangWatch, no_guard
from reactorl.rl.vector.batch_log import BatchLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reactorl.rl.envs.commands import Command, Description, Reply, Step
    from reactorl.rl.envs.factory import Maker
    from reactorl.rl.envs.placement import Placement
    from reactorl.rl.envs.process.shard import ProcessShard
    from reactorl.rl.envs.rules import Rules
    from reactorl.rl.envs.shard import EnvShard
    from reactorl.rl.envs.shard_thread import Job
    from reactorl.rl.envs.timeout import Guard

Batching: TypeAlias = Literal["declared", "physical"]


class AsyncBackend:
    """Sub-environments in shards, each used by a thread of its own.

    Args:
        makers: Make the environments.
        rules: Settings of all sub-environments.
        placement: Where the shards live.
        workers: Number of shards; None: one for each core.
        batch_size: Number of results in a batch.
        batching: How batches are formed.
        replay: Batches of an earlier run, to be formed again.
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
        self._count = count = len(makers)
        self._batch_size = batch_size
        self._batching = batching
        self._replay = None if replay is None else deque(replay.taken)
        self.batches = BatchLog(count, batch_size)
        self._changed = threading.Condition()
        self._steps = [0] * count
        self._sent: set[int] = set()  # and not received yet
        self._done: dict[int, Any] = {}  # replies, in order of arrival
        self._owner = os.getpid()
        self._closed = False
        self._stack = ExitStack()
        self._remote: list[ProcessShard] = []
        self._local: list[LocalShard] = []
        makes = self._shards(makers, rules, placement, workers)
        self._threads = [ShardThread(part, make) for part, make in makes.items()]
        self._home = {i: thread for thread in self._threads for i in thread.indices}

    def _shards(
        self,
        makers: Sequence[Maker],
        rules: Rules,
        placement: Placement,
        workers: int | None,
    ) -> Mapping[range, Callable[[], EnvShard]]:
        """Return for each shard its indices, and what makes it on its thread."""
        size = min(usable_cores() if workers is None else workers, self._count)
        each = {p: {i: makers[i] for i in p} for p in parts(self._count, size)}
        makes: dict[range, Callable[[], EnvShard]] = {}
        if placement == "process":
            from reactorl.rl.envs.process.shard import ProcessShard

            check_processes()
            try:
                for part, its_makers in each.items():
                    shard = ProcessShard(its_makers, rules)
                    self._remote.append(shard)
                    makes[part] = partial(_opened, shard)
            except BaseException:
                for shard in self._remote:
                    shard.close()
                raise
            return makes
        guard: Callable[[], Guard] = no_guard
        if rules.timeout is not None:
            watch = HangWatch(rules.timeout)
            self._stack.callback(watch.close)
            guard = watch.guard

        for part, its_makers in each.items():
            local = LocalShard(its_makers, rules, guard, deferred=True)
            self._local.append(local)
            makes[part] = partial(_made, local)
        return makes

    @property
    def tag(self) -> Tag:
        """As many microsteps as there were batches."""
        return Tag(0, len(self.batches.taken))

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers; empty in threads."""
        return [shard.worker.pid for shard in self._remote]

    # -- as any backend ---------------------------------------------------------------

    def describe(self) -> list[Description]:
        """Return a description of each sub-environment."""
        for thread in self._threads:
            thread.wait_until_made()
        replies: list[Any] = self.execute(Describe())
        first_failure(replies)
        return replies

    def make_arrays(self, description: Description, *, pooled: bool = False) -> Arrays:
        """Make the arrays, without spare observation buffers."""
        if self._remote:
            from reactorl.rl.envs.process.shared_arrays import SharedArrays

            shared = SharedArrays(self._remote, description, self._count)
            self._stack.callback(shared.close)
            return shared.results
        arrays = Arrays.of(description.observation_space, self._count)
        for shard in self._local:  # all threads are idle
            shard.assign(arrays)
        return arrays

    def execute(self, command: Command) -> list[Reply]:
        """Execute a command in all sub-environments and wait for the replies.

        Raises:
            RuntimeError: Some have been sent and not received.
        """
        self._check_owner()
        if self._sent:
            msg = (
                f"execute failed: {len(self._sent)} environments have been sent and "
                "not received; recv() them first"
            )
            raise RuntimeError(msg)
        replies: list[Any] = [None] * self._count
        left = threading.Semaphore(0)

        def job(shard: EnvShard) -> None:
            try:
                for index, reply in execute(shard, command).items():
                    replies[index] = reply
            finally:
                left.release()

        for thread in self._threads:
            thread.put(job)
        for _ in self._threads:
            left.acquire()
        return self._tagged(replies)

    def step(self, command: Step) -> dict[int, Reply]:
        """Step all sub-environments and wait for them."""
        replies = enumerate(self.execute(command))
        return {index: reply for index, reply in replies if reply is not None}

    def close(self) -> None:
        """Close all shards, on their threads, and end the threads."""
        if self._closed or os.getpid() != self._owner:
            return
        self._closed = True
        try:
            for thread in self._threads:
                thread.end()
            failures = [thread.join() for thread in self._threads]
            for failure in failures:
                if failure is not None:
                    raise failure
        finally:
            self._stack.close()

    # -- send and recv ----------------------------------------------------------------

    def send(self, commands: Iterable[tuple[int, Command]]) -> None:
        """Queue commands, one for each of some sub-environments.

        Raises:
            ValueError: One has been sent and not received, or does not exist.
        """
        self._check_owner()
        listed = list(commands)
        seen: set[int] = set()
        for index, _ in listed:
            if not 0 <= index < self._count:
                msg = f"env_id must be below {self._count}, got {index}"
                raise ValueError(msg)
            if index in self._sent or index in seen:
                msg = f"environment {index} has been sent already; recv() it first"
                raise ValueError(msg)
            seen.add(index)
        for index, command in listed:
            self._sent.add(index)
            self._steps[index] += 1
            self._home[index].put(self._job(index, command))

    def _job(self, index: int, command: Command) -> Job:
        def job(shard: EnvShard) -> None:
            try:
                reply = execute(shard, Only(command, (index,))).get(index)
            except BaseException as error:
                what = traceback.format_exception_only(error)[-1].strip()
                trace = "".join(traceback.format_exception(error))
                reply = EnvError(index, "its worker", 0, "", what, trace)
            with self._changed:
                self._done[index] = reply
                self._changed.notify_all()

        return job

    def recv(self) -> tuple[tuple[int, ...], list[Reply]]:
        """Wait for a batch; return the indices of its sub-environments and the replies.

        Raises:
            RuntimeError: Fewer than a batch have been sent.
            ReplayError: There are no more batches to replay.
        """
        self._check_owner()
        if len(self._sent) < self._batch_size:
            msg = (
                f"recv failed: a batch has {self._batch_size} environments, and "
                f"{len(self._sent)} have been sent; send() more first"
            )
            raise RuntimeError(msg)
        with self._changed:
            batch = self._choose()
            while batch is None or any(index not in self._done for index in batch):
                self._changed.wait()
                batch = batch or self._choose()
            replies = [self._done.pop(index) for index in batch]
        self._sent.difference_update(batch)
        self.batches.taken.append(batch)
        return batch, self._tagged(replies)

    def _tagged(self, replies: list[Any]) -> list[Reply]:
        return [stamped(reply, lambda: str(self.tag)) for reply in replies]

    def _choose(self) -> tuple[int, ...] | None:
        """Return the next batch; None if it is not decided yet."""
        if self._replay is not None:
            return self._replayed()
        if self._batching == "declared":
            return tuple(
                sorted(self._sent, key=lambda i: (self._steps[i], i))[
                    : self._batch_size
                ]
            )
        if len(self._done) < self._batch_size:
            return None
        return tuple(self._done)[: self._batch_size]

    def _replayed(self) -> tuple[int, ...]:
        assert self._replay is not None
        if not self._replay:
            msg = f"the batch log ends after {len(self.batches.taken)} batches"
            raise ReplayError(msg, None, "Stop there, or record a longer run.")
        batch = self._replay.popleft()
        missing = [index for index in batch if index not in self._sent]
        if missing:
            msg = (
                f"batch {len(self.batches.taken)} of the log has environment "
                f"{missing[0]}, which has not been sent"
            )
            raise ReplayError(msg, None, "Send what the recorded run sent.")
        return batch

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise ForkedProcessError  # its threads do not exist here


def _opened(shard: EnvShard) -> EnvShard:
    return shard


def _made(shard: LocalShard) -> EnvShard:
    shard.make()
    return shard
