# SPDX-License-Identifier: Apache-2.0
"""Observation buffers that are returned to the caller without a copy and used again.

The caller owns the array, as it would own a copy, but the environments wrote directly
into it. They use the buffer again when the last array that shows it is gone.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reactorl.rl.envs.observation_buffer import Array

HOME: Final = 0
"""The buffer that is never lent."""


class Lease:
    """The common base of all arrays that show a buffer; ends with the last of them."""

    __slots__ = ("__array_struct__", "_array", "_release")

    def __init__(self, array: Array, release: Callable[[], None]) -> None:
        self._array = array  # the memory must live as long as an array shows it
        self._release = release
        self.__array_struct__: Any = array.__array_struct__

    def __del__(self) -> None:
        """Release the buffer, on the thread that dropped the last array."""
        self._release()


class BufferPool:
    """Buffers that can be lent: 1, 2, ...; 0 is ``HOME``.

    Args:
        arrays: The buffers from 1 on.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays
        # Any thread may set an item at any time, and does nothing else.
        self._is_lent = [False] * len(arrays)

    def free(self) -> int:
        """Return a buffer that is not lent; ``HOME`` if all others are."""
        for buffer, is_lent in enumerate(self._is_lent, 1):
            if not is_lent:
                return buffer
        return HOME

    def lend(self, buffer: int) -> Array:
        """Return a buffer as an array, which is free again when that is gone."""
        self._is_lent[buffer - 1] = True
        release = partial(self._release, buffer)
        return np.asarray(Lease(self._arrays[buffer - 1], release))

    def _release(self, buffer: int) -> None:
        self._is_lent[buffer - 1] = False
