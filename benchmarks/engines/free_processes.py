# SPDX-License-Identifier: Apache-2.0
"""Upper bound (no synchronization): each process has its share of the work.

As in ``free_threads``, they begin each slice together, and it ends when the last of
them has done its rounds.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.engines.pipes import Processes
from benchmarks.harness.watch import LEAD_IN, WARM_UP, Slice

if TYPE_CHECKING:
    from benchmarks.harness.watch import Watch


class Work(Protocol):
    """Work that can be divided and pickled."""

    def share(self, part: int, parts: int) -> Any:  # noqa: ANN401
        """Return a part, which has ``round``."""


class Member:
    """The object in a process."""

    def __init__(self, params: tuple[Work, int], part: int) -> None:
        work, parts = params
        self._share = work.share(part, parts)

    def answer(self, rounds: int) -> float:
        """Do some rounds; return their processor time."""
        began = time.process_time()
        for _ in range(rounds):
            self._share.round()
        return time.process_time() - began

    def close(self) -> None:
        """Nothing to close."""


def run(work: Work, watch: Watch, size: int) -> None:
    """Do the work in some processes, in turns, timed by the watch."""
    with Processes(Member, (work, size), size) as processes:
        first = _timed(processes, max(1, watch.compared_rounds))
        rounds = watch.fitting(watch.seconds * WARM_UP / first.wall * first.rounds)
        warm = _timed(processes, rounds)
        rounds = watch.fitting(watch.seconds / warm.wall * warm.rounds)
        more = watch.turn(None)
        while more:
            processes.ask_all(watch.fitting(rounds * LEAD_IN))
            more = watch.turn(_timed(processes, rounds))


def _timed(processes: Any, rounds: int) -> Slice:  # noqa: ANN401
    began = time.perf_counter()
    cpu = sum(processes.ask_all(rounds))
    return Slice(rounds, time.perf_counter() - began, cpu)
