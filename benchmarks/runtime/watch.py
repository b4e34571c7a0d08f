# SPDX-License-Identifier: Apache-2.0
"""The stopwatch that a workload carries: time per round, in many short slices.

One place of the program, the server or the sink, calls ``tick`` once per round. The
first rounds are counted but not timed, and what they computed is noted: every engine
must have computed the same. Then the program waits for its turn, does a few rounds to
get going, and a slice of rounds that are timed; and waits again. How many rounds make
a slice depends on how long one takes, so that fast and slow engines are measured for
equally long.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WARM_UP = 5
"""Slices of warm-up before the first turn."""
LEAD_IN = 0.2
"""Slices of lead-in at each turn: others had the processor meanwhile."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some rounds that were timed together."""

    rounds: int
    wall: float
    """Seconds."""
    cpu: float
    """Seconds of processor time, of all threads."""


class Watch:
    """Counts rounds and times slices of them.

    Args:
        compared_rounds: After so many rounds, ``seen`` is compared between engines.
        seconds: How long a slice is, about.
        turn: Called with the slice that ended, at first with None; waits for the next
            turn, and returns whether there is one.
        quantum: A slice, and each part that is not timed, is a multiple of this.
    """

    def __init__(
        self,
        *,
        compared_rounds: int,
        seconds: float,
        turn: Callable[[Slice | None], bool],
        quantum: int = 1,
    ) -> None:
        self.count = 0
        self.digest = ""
        self.compared_rounds = compared_rounds
        self.seconds = seconds
        self.turn = turn
        self._quantum = quantum
        self._rounds = 1
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
        return self._go_on(self.compared_rounds, self._compare)

    def _compare(self, seen: object) -> bool:
        self.digest = digest(seen)
        return self._go_on(self._rounds_in(self.seconds * WARM_UP), self._warm)

    def _warm(self, _seen: object) -> bool:
        self._rounds = self._rounds_in(self.seconds)
        return self._wait(None)

    def _lead(self, _seen: object) -> bool:
        return self._go_on(self._rounds, self._end)

    def _end(self, _seen: object) -> bool:
        wall = time.perf_counter() - self._wall
        cpu = time.process_time() - self._cpu
        return self._wait(Slice(self._rounds, wall, cpu))

    def _wait(self, ended: Slice | None) -> bool:
        if not self.turn(ended):
            return False
        lead = self.fitting(self._rounds * LEAD_IN)
        return self._go_on(lead, self._lead)

    def _go_on(self, rounds: int, then: Callable[[object], bool]) -> bool:
        self._since = self.count
        self._mark = self.count + rounds
        self._next = then
        self._cpu = time.process_time()
        self._wall = time.perf_counter()
        return True

    def _rounds_in(self, seconds: float) -> int:
        """Return how many rounds fit, judged by those since the last mark."""
        passed = time.perf_counter() - self._wall
        return self.fitting(seconds / (passed / (self.count - self._since)))

    def fitting(self, rounds: float) -> int:
        """Return the nearest number of rounds that may be timed, at least one."""
        return max(1, round(rounds / self._quantum)) * self._quantum


def digest(seen: object) -> str:
    """Return a short fingerprint of a value whose ``repr`` says it all."""
    return hashlib.blake2b(repr(seen).encode(), digest_size=6).hexdigest()
