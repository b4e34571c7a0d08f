# SPDX-License-Identifier: Apache-2.0
"""Free-running threads: each has its share of the work and meets nobody.

What two cores could do at best if results never had to be gathered.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from benchmarks.runtime.watch import WARM_UP, digest

if TYPE_CHECKING:
    from benchmarks.runtime.job import Engine
    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.workload import Workload


class Team:
    """Threads that begin together; the slowest decides how many rounds all do."""

    def __init__(self, workload: Workload, watch: Watch, size: int) -> None:
        self._workload = workload
        self._watch = watch
        self._size = size
        self._meet = threading.Barrier(size, action=self._all_are_here)
        self._began = 0.0
        self._cpu = 0.0
        self._each = [0.0] * size
        self._rounds = watch.compared_rounds
        self._seen: list[Any] = [None] * size
        self._ends = [0.0] * size
        self._errors: list[BaseException] = []

    def _all_are_here(self) -> None:
        self._cpu = time.process_time()
        self._began = time.perf_counter()

    def _settle(self, part: int, seconds: float) -> None:
        """Agree on a number of rounds that takes about ``seconds``."""
        each = (time.perf_counter() - self._began) / self._rounds
        self._each[part] = each
        self._meet.wait()
        rounds = max(1, round(seconds / max(self._each)))
        self._meet.wait()
        if part == 0:
            self._rounds = rounds
        self._meet.wait()

    def _member(self, part: int) -> None:
        try:
            share = self._workload.share(part, self._size)
            share.round()
            self._meet.wait()
            for _ in range(self._rounds):
                share.round()
            self._seen[part] = share.seen()
            self._settle(part, self._watch.seconds * WARM_UP)
            for _ in range(self._rounds):
                share.round()
            self._settle(part, self._watch.seconds)
            for _ in range(self._rounds):
                share.round()
            self._ends[part] = time.perf_counter()
        except threading.BrokenBarrierError:
            return
        except BaseException as error:
            self._errors.append(error)
            self._meet.abort()

    def run(self) -> None:
        """Do the work and tell the watch."""
        threads = [
            threading.Thread(target=self._member, args=(part,))
            for part in range(self._size)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._errors:
            raise self._errors[0]
        wall = max(self._ends) - self._began
        watch = self._watch
        watch.digest = digest([value for part in self._seen for value in part])
        watch.timed_rounds = self._rounds
        watch.seconds_per_round = wall / self._rounds
        watch.cpu_per_second = (time.process_time() - self._cpu) / wall


def run(workload: Workload, watch: Watch, engine: Engine) -> dict[str, Any]:
    """Run one share of the workload per thread."""
    Team(workload, watch, engine.workers).run()
    return {}
