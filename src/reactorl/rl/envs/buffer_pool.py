# SPDX-License-Identifier: Apache-2.0
"""BatchLog of observations that are given away as they are, and used again later.

A batch is the caller's own, like a copy, but nobody copied it: environments wrote it
where it is. They write there again when the last array that shows it is gone.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.envs.observation_buffer import Array

HOME: Final = 0
"""The place for observations that is never given away."""


class Lease:
    """What all arrays that show a batch have in common; it goes with the last one."""

    __slots__ = ("__array_struct__", "_array", "_give_back")

    def __init__(self, array: Array, give_back: Callable[[], None]) -> None:
        self._array = array  # the memory lives as long as somebody can see it
        self._give_back = give_back
        self.__array_struct__: Any = array.__array_struct__

    def __del__(self) -> None:
        """Give the batch back, on whatever thread the last array was let go."""
        self._give_back()


class BufferPool:
    """Places for batches besides the one at home: 1, 2, ...

    Args:
        arrays: These places.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays
        # Any thread may change an item at any time, and nothing but that.
        self._is_lent = [False] * len(arrays)

    def place(self) -> int:
        """Return a place that nobody sees; the home if there is no other."""
        for place, is_lent in enumerate(self._is_lent, 1):
            if not is_lent:
                return place
        return HOME

    def lend(self, place: int) -> Array:
        """Give away what is at a place, until nobody has it any more."""
        self._is_lent[place - 1] = True
        return np.asarray(Lease(self._arrays[place - 1], partial(self._take, place)))

    def _take(self, place: int) -> None:
        self._is_lent[place - 1] = False
