# SPDX-License-Identifier: Apache-2.0
"""Upper bound (no synchronization): each thread has its share of the work.

What two cores could do at best if results never had to be gathered. The threads begin
each slice together; it ends when the last of them has done its rounds.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.harness.watch import LEAD_IN, WARM_UP, Slice, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Share(Protocol):
    """The share of one thread."""

    def round(self) -> None:
        """Do this share of one round."""

    def seen(self) -> Sequence[object]:
        """Return the last results."""


class Work(Protocol):
    """Work that can be divided."""

    def share(self, part: int, parts: int) -> Share:
        """Make, in the calling thread, the share of one of ``parts`` threads."""


class Team:
    """Threads that begin together; the slowest determines how many rounds all do."""

    def __init__(self, work: Work, watch: Any, size: int) -> None:  # noqa: ANN401
        self._work = work
        self._watch = watch
        self._size = size
        self._then: Callable[[], None] = lambda: None
        self._barrier = threading.Barrier(size, action=self._all_arrived)
        self._wall = 0.0
        self._cpu = 0.0
        self._rounds = watch.compared_rounds
        self._seen: list[Any] = [None] * size
        self._more = True
        self._errors: list[BaseException] = []

    # -- decided by one thread for all, while the others wait -------------------------

    def _all_arrived(self) -> None:
        self._then()
        self._cpu = time.process_time()
        self._wall = time.perf_counter()

    def _fit(self, slices: float) -> None:
        """Let all do as many rounds as take ``slices`` slices."""
        each = (time.perf_counter() - self._wall) / self._rounds
        self._rounds = self._watch.fitting(self._watch.seconds * slices / each)

    def _first_turn(self) -> None:
        self._fit(1)
        self._more = self._watch.turn(None)

    def _next_turn(self) -> None:
        wall = time.perf_counter() - self._wall
        cpu = time.process_time() - self._cpu
        self._more = self._watch.turn(Slice(self._rounds, wall, cpu))

    def _together(self, then: Callable[[], None]) -> None:
        self._then = then
        self._barrier.wait()

    # -- done by each thread ----------------------------------------------------------

    def _member(self, part: int) -> None:
        try:
            share = self._work.share(part, self._size)
            share.round()
            self._together(lambda: None)
            _do(share, self._rounds)
            self._seen[part] = share.seen()
            self._together(lambda: self._fit(WARM_UP))
            _do(share, self._rounds)
            self._together(self._first_turn)
            while self._more:
                _do(share, self._watch.fitting(self._rounds * LEAD_IN))
                self._together(lambda: None)
                _do(share, self._rounds)
                self._together(self._next_turn)
        except threading.BrokenBarrierError:
            return
        except BaseException as error:
            self._errors.append(error)
            self._barrier.abort()

    def run(self) -> None:
        """Do the work, in turns, timed by the watch."""
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
        self._watch.digest = digest([value for part in self._seen for value in part])


def _do(share: Share, rounds: int) -> None:
    for _ in range(rounds):
        share.round()
