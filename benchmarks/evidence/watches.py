# SPDX-License-Identifier: Apache-2.0
"""Stopwatches of the evidence: slices in turns, of a length in time or in rounds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.runtime.watch import Slice, Watch, digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.evidence.workload import Pace


class SliceWatch(Watch):
    """Times slices in turns; the compared rounds come first, untimed."""

    @property
    def compared_at(self) -> int:
        """The count at which engines are compared."""
        return self.compared_rounds + 1  # the first round only starts the clock


class WholeWatch:
    """Times ``slices`` slices that are ``rounds`` rounds together, and then compares.

    The ``dropped`` rounds before them are not timed.
    """

    def __init__(
        self,
        *,
        dropped: int,
        rounds: int,
        slices: int,
        turn: Callable[[Slice | None], bool],
    ) -> None:
        if rounds % slices:
            msg = f"{rounds} rounds are no {slices} slices of equal length"
            raise ValueError(msg)
        self.count = 0
        self.digest = ""
        self.compared_at = dropped + rounds
        self.compared_rounds = dropped + rounds
        self.turn = turn
        self.dropped = dropped
        self.slices = slices
        self.rounds_of_slice = rounds // slices
        self._mark = dropped
        self._wall = self._cpu = 0.0

    def tick(self, seen: object = None) -> bool:
        """Count a round; return whether another one is to follow."""
        self.count += 1
        if self.count < self._mark:
            return True
        wall = time.perf_counter() - self._wall
        cpu = time.process_time() - self._cpu
        if self.count == self.compared_at:
            self.digest = digest(seen)
        is_first = self.count == self.dropped
        ended = None if is_first else Slice(self.rounds_of_slice, wall, cpu)
        going_on = self.turn(ended)
        self._mark += self.rounds_of_slice
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return going_on


def make_watch(
    pace: Pace, turn: Callable[[Slice | None], bool]
) -> SliceWatch | WholeWatch:
    """Return the watch for a pace."""
    if pace.whole is not None:
        return WholeWatch(
            dropped=max(1, pace.compared),
            rounds=pace.whole,
            slices=pace.slices,
            turn=turn,
        )
    return SliceWatch(compared_rounds=pace.compared, seconds=pace.seconds, turn=turn)
