# SPDX-License-Identifier: Apache-2.0
"""A thread that makes, uses and closes one shard."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.envs.shard import EnvShard

    Job: TypeAlias = Callable[[EnvShard], None]


class ShardThread:
    """A thread that uses one shard: it makes, steps and closes it.

    Args:
        indices: The indices of its sub-environments.
        make: Makes the shard, on the thread.
    """

    def __init__(self, indices: range, make: Callable[[], EnvShard]) -> None:
        self.indices = indices
        self._make = make
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._failure: BaseException | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=self._work, name=f"reactorl-envs-{indices[0]}", daemon=True
        )
        self._thread.start()

    def _work(self) -> None:
        try:
            shard = self._make()
        except BaseException as error:
            self._failure = error
            self._ready.set()
            return
        self._ready.set()
        try:
            while (job := self._jobs.get()) is not None:
                job(shard)
        finally:
            try:
                shard.close()
            except BaseException as error:
                self._failure = error

    def wait_until_made(self) -> None:
        """Wait until the shard is made; raise what its construction raised."""
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def put(self, job: Job) -> None:
        """Queue a job."""
        self._jobs.put(job)

    def end(self) -> None:
        """End the thread after all queued jobs."""
        self._jobs.put(None)

    def join(self) -> BaseException | None:
        """Wait for the end of the thread; return what its shard raised."""
        self._thread.join()
        return self._failure
