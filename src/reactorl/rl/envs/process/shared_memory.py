# SPDX-License-Identifier: Apache-2.0
"""Arrays in memory that processes share.

The memory has no name: it is a file that exists only as long as a process has it open,
so nothing remains, however a process ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from reactorl.rl.envs.observation_buffer import Array

ALIGNMENT: Final = 64


class Measure:
    """Computes the size of arrays, in place of an allocator."""

    def __init__(self) -> None:
        self.size = 0

    def __call__(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Add the size of an array; returns an empty one of the same kind."""
        self.size += _needed(shape, dtype)
        return np.empty((0, *shape[1:]), dtype)


class SharedMemory:
    """Memory of a given size, from which arrays are allocated in order.

    Processes that allocate the same arrays in the same order share them.
    """

    def __init__(self, fd: int, size: int) -> None:
        self.fd = fd
        self.size = max(size, 1)
        self._map = mmap.mmap(fd, self.size)
        self._used = 0

    @classmethod
    def create(cls, size: int) -> SharedMemory:
        """Return new memory, all zero."""
        if hasattr(os, "memfd_create"):
            fd = os.memfd_create("reactorl", os.MFD_CLOEXEC)
        else:
            with tempfile.TemporaryFile() as file:
                fd = os.dup(file.fileno())
        os.ftruncate(fd, max(size, 1))
        return cls(fd, size)

    def __call__(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return the next array."""
        count = prod(shape)
        array = np.frombuffer(self._map, dtype, count, self._used).reshape(shape)
        self._used += _needed(shape, dtype)
        return array

    def close(self) -> None:
        """Close the file; the memory lives as long as an array of it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _needed(shape: tuple[int, ...], dtype: DTypeLike) -> int:
    size = prod(shape) * np.dtype(dtype).itemsize
    return -(-size // ALIGNMENT) * ALIGNMENT
