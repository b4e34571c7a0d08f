# SPDX-License-Identifier: Apache-2.0
"""Free-running processes: each has its share of the work and meets nobody.

As ``benchmarks.engines.free_threads`` has it for threads: they begin each slice
together, and it ends when the last of them has done its rounds.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.engines.pipes import Processes
from benchmarks.harness.watch import LEAD_IN, WARM_UP, Slice

if TYPE_CHECKING:
    from benchmarks.harness.watch import Watch


class Work(Protocol):
    """What can be shared out, and sent to a process."""

    def share(self, part: int, parts: int) -> Any:  # noqa: ANN401
        """Return a part, which has ``round``."""


class Member:
    """What happens in a process."""

    def __init__(self, params: tuple[Work, int], part: int) -> None:
        work, parts = params
        self._share = work.share(part, parts)

    def answer(self, rounds: int) -> float:
        """Do so many rounds; return the processor time that they took."""
        began = time.process_time()
        for _ in range(rounds):
            self._share.round()
        return time.process_time() - began

    def close(self) -> None:
        """There is nothing to do."""


def run(work: Work, watch: Watch, size: int) -> None:
    """Do the work in so many processes, in turns, and tell the watch."""
    with Processes(Member, (work, size), size) as processes:
        first = _timed(processes, max(1, watch.compared_rounds))
        rounds = watch.fitting(watch.seconds * WARM_UP / first.wall * first.rounds)
        warm = _timed(processes, rounds)
        rounds = watch.fitting(watch.seconds / warm.wall * warm.rounds)
        going_on = watch.turn(None)
        while going_on:
            processes.ask_all(watch.fitting(rounds * LEAD_IN))
            going_on = watch.turn(_timed(processes, rounds))


def _timed(processes: Any, rounds: int) -> Slice:  # noqa: ANN401
    began = time.perf_counter()
    cpu = sum(processes.ask_all(rounds))
    return Slice(rounds, time.perf_counter() - began, cpu)
