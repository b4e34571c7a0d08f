# SPDX-License-Identifier: Apache-2.0
"""States of JAX as plain data, and as arrays that nobody changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data

_T = TypeVar("_T")


def frozen(tree: _T) -> _T:
    """Return the same with NumPy arrays that are read-only; nothing is copied."""

    def freeze(leaf: Any) -> Any:  # noqa: ANN401
        array = np.asarray(leaf)
        array.flags.writeable = False
        return array

    found: _T = jax.tree.map(freeze, tree)
    return found


def told(tree: Any) -> Data:  # noqa: ANN401
    """Return the leaves of a tree, in order."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def heard(like: _T, data: Data) -> _T:
    """Return a tree of the form of ``like`` with these leaves."""
    leaves, form = jax.tree.flatten(like)
    if len(leaves) != len(data):
        msg = f"{len(data)} arrays were saved, and the state has {len(leaves)}"
        raise ValueError(msg)
    found: _T = jax.tree.unflatten(form, [jax.numpy.asarray(leaf) for leaf in data])
    return found
