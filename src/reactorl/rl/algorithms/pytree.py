# SPDX-License-Identifier: Apache-2.0
"""Pytrees of JAX as plain data, and as read-only arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from reactorl.rl.algorithms._jax import jax

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data

_T = TypeVar("_T")


def frozen(tree: _T) -> _T:
    """Return a tree with read-only NumPy arrays as leaves; nothing is copied."""

    def freeze(leaf: Any) -> Any:  # noqa: ANN401
        array = np.asarray(leaf)
        array.flags.writeable = False
        return array

    found: _T = jax.tree.map(freeze, tree)
    return found


def flatten(tree: Any) -> Data:  # noqa: ANN401
    """Return the leaves of a tree, in order."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def unflatten(like: _T, data: Data) -> _T:
    """Return a tree with the structure of ``like`` and these leaves.

    Raises:
        ValueError: The number of leaves is another.
    """
    leaves, structure = jax.tree.flatten(like)
    if len(leaves) != len(data):
        msg = f"state must have {len(leaves)} arrays, got {len(data)}"
        raise ValueError(msg)
    arrays = [jax.numpy.asarray(leaf) for leaf in data]
    found: _T = jax.tree.unflatten(structure, arrays)
    return found
