# SPDX-License-Identifier: Apache-2.0
"""Acting with a function that JAX compiles, from several threads.

Rows are padded to a power of two, so that a varying number of environments needs few
compilations. Results do not depend on the thread, nor on other calls at the same time.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.algorithms._jax import jax

if TYPE_CHECKING:
    from collections.abc import Callable


class CompiledRows:
    """A compiled function of weights and rows, whose results have as many rows.

    Args:
        function: Of weights, and of a pytree of arrays ``[row, ...]``; returns such a
            pytree.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._function = jax.jit(function)
        self._lock = Lock()
        self._compiled: set[Any] = set()

    def __call__(self, weights: Any, rows: Any) -> Any:  # noqa: ANN401
        """Return the results as arrays of NumPy."""
        leaves = jax.tree.leaves(rows)
        count = len(leaves[0])
        size = 1 << (count - 1).bit_length()
        if size != count:
            rows = jax.tree.map(lambda leaf: _padded(leaf, size), rows)
        kind = (size, *((leaf.shape[1:], leaf.dtype) for leaf in leaves))
        if kind in self._compiled:
            found = self._function(weights, rows)
        else:
            with self._lock:  # one thread compiles, others wait for it
                found = self._function(weights, rows)
                self._compiled.add(kind)
        # A copy: callers write into memories, and arrays of JAX are read-only.
        return jax.tree.map(lambda leaf: np.array(leaf[:count]), found)


def _padded(rows: Any, size: int) -> Any:  # noqa: ANN401
    padded = np.zeros((size, *rows.shape[1:]), rows.dtype)
    padded[: len(rows)] = rows
    return padded
