# SPDX-License-Identifier: Apache-2.0
"""Dispatch by duration: one function for short calls, another for long ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

A = TypeVar("A")
R = TypeVar("R")

JUDGED: Final = 100
"""Number of consecutive calls that are measured."""
EVERY: Final = 1000
"""Number of calls between two measurements: the work and the load may change."""


class ByLength(Generic[A, R]):
    """Calls one function while calls are short, and another while they are long.

    Both must give the same result: which one is called depends on the clock.

    Args:
        long: Seconds from which a call is long. Calls count as short if a quarter of
            the measured ones are shorter: other load lengthens some, and a few short
            ones occur in any case.
        for_short: For short calls, and for the first ones.
        for_long: For long calls.
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
        """Call the current function; a call that raises is not measured."""
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
