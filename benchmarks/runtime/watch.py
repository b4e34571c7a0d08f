# SPDX-License-Identifier: Apache-2.0
"""The stopwatch that a workload carries: time per round, without start-up.

One place of the program, the server or the sink, calls ``tick`` once per round. The
first rounds are counted but not timed, and what they computed is noted: every engine
must have computed the same. How many rounds are timed depends on how long one takes,
so that fast and slow engines are measured for equally long.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WARM_UP = 0.25
"""Seconds of warm-up per second that is timed."""


class Watch:
    """Counts rounds and times those after the warm-up.

    Args:
        compared_rounds: After so many rounds, ``seen`` is compared between engines.
        seconds: How long to measure, about.
        quantum: Warm-up and timed rounds are each a multiple of this.
    """

    def __init__(
        self, *, compared_rounds: int, seconds: float, quantum: int = 1
    ) -> None:
        self.count = 0
        self.digest = ""
        self.timed_rounds = 0
        self.seconds_per_round = 0.0
        self.cpu_per_second = 0.0
        self.compared_rounds = compared_rounds
        self.seconds = seconds
        self._quantum = quantum
        self._mark = 1
        self._next: Callable[[object], bool] = self._begin
        self._wall = 0.0
        self._cpu = 0.0

    def tick(self, seen: object = None) -> bool:
        """Count a round; return whether another one is to follow.

        Args:
            seen: What was computed so far; anything whose ``repr`` says it all.
        """
        self.count = count = self.count + 1
        return count < self._mark or self._next(seen)

    # -- what happens at each mark ----------------------------------------------------

    def _begin(self, _seen: object) -> bool:
        self._go_on(self.compared_rounds, self._compare)
        return True

    def _compare(self, seen: object) -> bool:
        self.digest = digest(seen)
        rounds = self._rounds_in(self.seconds * WARM_UP)
        self._go_on(rounds, self._warm)
        return True

    def _warm(self, _seen: object) -> bool:
        self.timed_rounds = self._rounds_in(self.seconds)
        self._go_on(self.timed_rounds, self._end)
        return True

    def _end(self, _seen: object) -> bool:
        wall = time.perf_counter() - self._wall
        self.seconds_per_round = wall / self.timed_rounds
        self.cpu_per_second = (time.process_time() - self._cpu) / wall
        return False

    def _go_on(self, rounds: int, then: Callable[[object], bool]) -> None:
        self._since = self.count
        self._mark = self.count + rounds
        self._next = then
        self._cpu = time.process_time()
        self._wall = time.perf_counter()

    def _rounds_in(self, seconds: float) -> int:
        """Return how many rounds fit, judged by those since the last mark."""
        passed = time.perf_counter() - self._wall
        each = passed / (self.count - self._since)
        return max(1, round(seconds / each / self._quantum)) * self._quantum


def digest(seen: object) -> str:
    """Return a short fingerprint of a value whose ``repr`` says it all."""
    return hashlib.blake2b(repr(seen).encode(), digest_size=6).hexdigest()
