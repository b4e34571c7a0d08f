# SPDX-License-Identifier: Apache-2.0
"""A digest of weights: equal if and only if all bits are."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reactorl.rl.flow.algorithm import Weights


def weights_digest(weights: Weights) -> str:
    """Return the SHA-256 of all arrays: their paths, types, shapes and values."""
    import jax  # slow to import, and not needed before training ends

    digest = hashlib.sha256()
    for place, leaf in jax.tree_util.tree_flatten_with_path(weights)[0]:
        array = np.asarray(leaf)
        head = f"{jax.tree_util.keystr(place)} {array.dtype.str} {array.shape}\n"
        digest.update(head.encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
