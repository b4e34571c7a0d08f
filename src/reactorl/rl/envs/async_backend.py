# SPDX-License-Identifier: Apache-2.0
"""Environments that step while the caller does something else (EnvPool's idiom).

Each worker is a thread that has some of the environments, or speaks for the process
that has them. ``send`` hands out steps and returns at once; ``recv`` waits for a batch.
Which results form a batch is

* declared: those with the fewest steps, and of these the first by index. It follows
  from step counts alone, whatever steps take;
* physical: those that are ready first. It is written down, and can be replayed.
"""

from __future__ import annotations

import threading
import traceback
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from reactorl import ReplayError, Tag
from reactorl.rl.envs.arrays import Arrays
from reactorl.rl.envs.commands import Assign, Describe
from reactorl.rl.envs.errors import EnvError, stamped
from reactorl.rl.vector.batch_log import BatchLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reactorl.rl.envs.commands import Command, Description, Reply, Step

Batching: TypeAlias = Literal["declared", "physical"]


class Station(Protocol):
    """Some environments, used by one thread only."""

    def obey(self, command: Command) -> dict[int, Any]:
        """Let all of them obey."""

    def one(self, index: int, command: Command) -> Any:  # noqa: ANN401
        """Let one of them obey."""

    def close(self) -> None:
        """Close them."""


class Worker:
    """A thread with a station, which does one thing after the other."""

    def __init__(self, indices: range, make: Callable[[], Station]) -> None:
        self.indices = indices
        self._make = make
        self._jobs: SimpleQueue[Callable[[Station], None] | None] = SimpleQueue()
        self._station: Station | None = None
        self._failure: BaseException | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=self._work, name=f"reactorl-envs-{indices[0]}", daemon=True
        )
        self._thread.start()

    def _work(self) -> None:
        try:
            station = self._make()
        except BaseException as error:
            self._failure = error
            self._ready.set()
            return
        self._ready.set()
        try:
            while (job := self._jobs.get()) is not None:
                job(station)
        finally:
            try:
                station.close()
            except BaseException as error:
                self._failure = error

    def check(self) -> None:
        """Wait until its environments are made; raise what kept them from it."""
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def put(self, job: Callable[[Station], None]) -> None:
        """Let it do something when everything before is done."""
        self._jobs.put(job)

    def end(self) -> None:
        """Let it end when everything is done."""
        self._jobs.put(None)

    def join(self) -> BaseException | None:
        """Wait for its end; return what went wrong in it."""
        self._thread.join()
        return self._failure


class Pool:
    """The environments of a vector, on workers of their own.

    Args:
        workers: Who has them.
        count: How many there are.
        batch_size: How many form a batch.
        batching: How batches are formed.
        replay: BatchLog to form instead.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        count: int,
        batch_size: int,
        batching: Batching,
        replay: BatchLog | None,
    ) -> None:
        self._workers = workers
        self._home = {i: worker for worker in workers for i in worker.indices}
        self._count = count
        self._batch_size = batch_size
        self._batching = batching
        self._replay = None if replay is None else deque(replay.taken)
        self.batches = BatchLog(count, batch_size)
        self._changed = threading.Condition()
        self._steps = [0] * count
        self._out: set[int] = set()  # handed out, and not received yet
        self._done: dict[int, Any] = {}  # replies, in the order of their arrival
        self._closed = False

    @property
    def tag(self) -> Tag:
        """As many microsteps as there were batches."""
        return Tag(0, len(self.batches.taken))

    # -- as any host ------------------------------------------------------------------

    def describe(self) -> list[Description]:
        """Return what each environment is."""
        for worker in self._workers:
            worker.check()
        replies: list[Any] = self.obey(Describe())
        for reply in replies:
            if isinstance(reply, EnvError):
                raise reply
        return replies

    def make_arrays(self, description: Description, *, lends: bool = False) -> Arrays:
        """Make the arrays, and let everybody know; a pool lends nothing."""
        arrays = Arrays.of(description.observation_space, self._count)
        self.obey(Assign(arrays))
        return arrays

    def obey(self, command: Command) -> list[Reply]:
        """Let all obey a command, and wait for them.

        Raises:
            RuntimeError: Some have been sent and not received.
        """
        if self._out:
            msg = f"{len(self._out)} environments are on their way; recv() them first"
            raise RuntimeError(msg)
        replies: list[Any] = [None] * self._count
        left = threading.Semaphore(0)

        def job(station: Station) -> None:
            try:
                for index, reply in station.obey(command).items():
                    replies[index] = reply
            finally:
                left.release()

        for worker in self._workers:
            worker.put(job)
        for _ in self._workers:
            left.acquire()
        return self._tagged(replies)

    def step(self, command: Step) -> dict[int, Reply]:
        """Let all step, and wait for them."""
        replies = enumerate(self.obey(command))
        return {index: reply for index, reply in replies if reply is not None}

    def close(self) -> None:
        """Let all workers close their environments, and end."""
        if self._closed:
            return
        self._closed = True
        for worker in self._workers:
            worker.end()
        failures = [worker.join() for worker in self._workers]
        for failure in failures:
            if failure is not None:
                raise failure

    # -- while the caller does something else -----------------------------------------

    def send(self, commands: Iterable[tuple[int, Command]]) -> None:
        """Hand out commands, one for each of some environments.

        Raises:
            ValueError: One is on its way already, or is not there.
        """
        listed = list(commands)
        seen: set[int] = set()
        for index, _ in listed:
            if not 0 <= index < self._count:
                msg = f"env_id {index} is not below {self._count}"
                raise ValueError(msg)
            if index in self._out or index in seen:
                msg = f"environment {index} has been sent already; recv() it first"
                raise ValueError(msg)
            seen.add(index)
        for index, command in listed:
            self._out.add(index)
            self._steps[index] += 1
            self._home[index].put(self._job(index, command))

    def _job(self, index: int, command: Command) -> Callable[[Station], None]:
        def job(station: Station) -> None:
            try:
                reply = station.one(index, command)
            except BaseException as error:
                what = traceback.format_exception_only(error)[-1].strip()
                trace = "".join(traceback.format_exception(error))
                reply = EnvError(index, "its worker", 0, "", what, trace)
            with self._changed:
                self._done[index] = reply
                self._changed.notify_all()

        return job

    def recv(self) -> tuple[tuple[int, ...], list[Reply]]:
        """Wait for a batch; return its environments, and their replies.

        Raises:
            RuntimeError: So many were not sent.
            ReplayError: There are no more batches to replay.
        """
        if len(self._out) < self._batch_size:
            msg = (
                f"a batch has {self._batch_size} environments, and {len(self._out)} "
                "are on their way; send() some first"
            )
            raise RuntimeError(msg)
        with self._changed:
            batch = self._choice()
            while batch is None or any(index not in self._done for index in batch):
                self._changed.wait()
                batch = batch or self._choice()
            replies = [self._done.pop(index) for index in batch]
        self._out.difference_update(batch)
        self.batches.taken.append(batch)
        return batch, self._tagged(replies)

    def _tagged(self, replies: list[Any]) -> list[Reply]:
        return [stamped(reply, lambda: str(self.tag)) for reply in replies]

    def _choice(self) -> tuple[int, ...] | None:
        """Return the next batch; None if that is not decided yet."""
        if self._replay is not None:
            return self._replayed()
        if self._batching == "declared":
            return tuple(
                sorted(self._out, key=lambda i: (self._steps[i], i))[: self._batch_size]
            )
        if len(self._done) < self._batch_size:
            return None
        return tuple(self._done)[: self._batch_size]

    def _replayed(self) -> tuple[int, ...]:
        assert self._replay is not None
        if not self._replay:
            msg = f"the recording ends after {len(self.batches.taken)} batches"
            raise ReplayError(msg, None, "Stop there, or record a longer run.")
        batch = self._replay.popleft()
        lost = [index for index in batch if index not in self._out]
        if lost:
            msg = (
                f"batch {len(self.batches.taken)} of the recording has environment "
                f"{lost[0]}, which was not sent"
            )
            raise ReplayError(msg, None, "Send what the recorded run sent.")
        return batch
