# SPDX-License-Identifier: Apache-2.0
"""One way for what is short, another for what is long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

A = TypeVar("A")
R = TypeVar("R")

JUDGED: Final = 100
"""So many calls, one after another, tell whether they are long."""
EVERY: Final = 1000
"""Calls from one judgement to the next: work changes, and so does the machine."""


class ByLength(Generic[A, R]):
    """Goes one way while calls are short, and another while they are long.

    Both ways must have the same result: which one is taken depends on the clock.

    Args:
        long: Seconds from which a call is long. A quarter of the calls that are judged
            must be shorter for the way of short ones: who else is on the machine adds
            to some, and work that varies has a few short ones in any case.
        for_short: The way of short calls; the first calls go there.
        for_long: The way of long ones.
    """

    def __init__(
        self, long: float, for_short: Callable[[A], R], for_long: Callable[[A], R]
    ) -> None:
        self._long = long
        self._ways = (for_short, for_long)
        self._way = for_short
        self._left = JUDGED
        self._seconds: list[float] = []

    def __call__(self, argument: A) -> R:
        """Go there; a call that raises is not judged."""
        left = self._left - 1
        if left >= JUDGED:
            result = self._way(argument)
            self._left = left
            return result
        began = time.perf_counter()
        result = self._way(argument)
        self._seconds.append(time.perf_counter() - began)
        self._left = left
        if not left:
            self._judge()
        return result

    def _judge(self) -> None:
        quarter = sorted(self._seconds)[JUDGED // 4]
        self._way = self._ways[quarter > self._long]
        self._seconds.clear()
        self._left = EVERY
