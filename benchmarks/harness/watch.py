# SPDX-License-Identifier: Apache-2.0
"""Watch: counts the rounds of a workload and times slices of them.

One place of the program, the server or the sink, calls ``tick`` once per round. The
first rounds are not timed; the digest of their results is compared between engines.
Then the program waits for its turn, does a few rounds of lead-in and a slice of rounds
that are timed, and waits again. The number of rounds in a slice depends on the duration
of one, so that fast and slow engines are measured for equally long.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.workload import Pace

WARM_UP = 5
"""Slices of warm-up before the first turn."""
LEAD_IN = 0.2
"""Slices of lead-in at each turn, because other processes had the caches meanwhile."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Rounds that were timed together."""

    rounds: int
    wall: float
    """Seconds."""
    cpu: float
    """Seconds of processor time, of all threads and of child processes that ended."""


class Watch:
    """Times slices of a length in time.

    Args:
        pace: How long to measure.
        turn: Called with the slice that ended, at first with None; waits for the next
            turn, and returns whether there is one.
    """

    def __init__(self, pace: Pace, turn: Callable[[Slice | None], bool]) -> None:
        self.count = 0
        self.digest = ""
        self.compared_rounds = pace.compared
        self.compared_at = pace.compared + 1  # the first round only starts the clock
        self.seconds = pace.seconds
        self.turn = turn
        self._quantum = pace.quantum
        self._rounds = 1
        self._mark = 1
        self._next: Callable[[object], bool] = self._begin
        self._wall = self._cpu = 0.0

    def tick(self, seen: object = None) -> bool:
        """Count a round; return whether another one is to follow.

        Args:
            seen: Results so far; anything with a complete ``repr``.
        """
        self.count = count = self.count + 1
        return count < self._mark or self._next(seen)

    def fitting(self, rounds: float) -> int:
        """Return the nearest number of rounds that may be timed, at least one."""
        return max(1, round(rounds / self._quantum)) * self._quantum

    # -- one function for each mark ---------------------------------------------------

    def _begin(self, _seen: object) -> bool:
        return self._continue(self.compared_rounds, self._compare)

    def _compare(self, seen: object) -> bool:
        self.digest = digest(seen)
        return self._continue(self._rounds_in(self.seconds * WARM_UP), self._warm)

    def _warm(self, _seen: object) -> bool:
        self._rounds = self._rounds_in(self.seconds)
        return self._wait(None)

    def _lead(self, _seen: object) -> bool:
        return self._continue(self._rounds, self._end)

    def _end(self, _seen: object) -> bool:
        wall = time.perf_counter() - self._wall
        return self._wait(Slice(self._rounds, wall, cpu_seconds() - self._cpu))

    def _wait(self, ended: Slice | None) -> bool:
        if not self.turn(ended):
            return False
        return self._continue(self.fitting(self._rounds * LEAD_IN), self._lead)

    def _continue(self, rounds: int, then: Callable[[object], bool]) -> bool:
        self._since = self.count
        self._mark = self.count + rounds
        self._next = then
        self._cpu = cpu_seconds()
        self._wall = time.perf_counter()
        return True

    def _rounds_in(self, seconds: float) -> int:
        """Return how many rounds fit, estimated from those since the last mark."""
        passed = time.perf_counter() - self._wall
        return self.fitting(seconds / (passed / (self.count - self._since)))


class WholeWatch:
    """Times slices that are ``pace.whole`` rounds together; the digest is taken last.

    The ``dropped`` rounds before them are not timed.
    """

    def __init__(self, pace: Pace, turn: Callable[[Slice | None], bool]) -> None:
        rounds = pace.whole or 0
        if rounds % pace.slices:
            msg = f"whole must be a multiple of slices={pace.slices}, got {rounds}"
            raise ValueError(msg)
        self.count = 0
        self.digest = ""
        self.dropped = max(1, pace.compared)
        self.compared_at = self.compared_rounds = self.dropped + rounds
        self.turn = turn
        self.slices = pace.slices
        self.rounds_of_slice = rounds // pace.slices
        self._mark = self.dropped
        self._wall = self._cpu = 0.0

    def tick(self, seen: object = None) -> bool:
        """Count a round; return whether another one is to follow."""
        self.count += 1
        if self.count < self._mark:
            return True
        wall = time.perf_counter() - self._wall
        cpu = cpu_seconds() - self._cpu
        if self.count == self.compared_at:
            self.digest = digest(seen)
        is_first = self.count == self.dropped
        more = self.turn(None if is_first else Slice(self.rounds_of_slice, wall, cpu))
        self._mark += self.rounds_of_slice
        self._cpu, self._wall = cpu_seconds(), time.perf_counter()
        return more


def make_watch(pace: Pace, turn: Callable[[Slice | None], bool]) -> Watch | WholeWatch:
    """Return the watch for a pace."""
    return (Watch if pace.whole is None else WholeWatch)(pace, turn)


def cpu_seconds() -> float:
    """Return the processor time of this process and of its children that ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def digest(seen: object) -> str:
    """Return a short digest of a value with a complete ``repr``."""
    return hashlib.blake2b(repr(seen).encode(), digest_size=6).hexdigest()
