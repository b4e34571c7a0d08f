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


def on_device(tree: _T) -> _T:
    """Return a tree with arrays of JAX as leaves.

    Nothing is compiled for that, unlike with ``jnp.asarray`` for each shape.
    """
    found: _T = jax.device_put(tree)
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
    found: _T = jax.tree.unflatten(structure, on_device(list(data)))
    return found
