# SPDX-License-Identifier: Apache-2.0
"""The weights of a training, which are compared between engines of ours."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import jax

if TYPE_CHECKING:
    from reactorl.rl import FlowRun


class Weights:
    """The weights of a training; hashed only when their digest is taken."""

    def __init__(self, training: FlowRun) -> None:
        self._training = training

    def __repr__(self) -> str:
        leaves = jax.tree.leaves(self._training.weights)
        data = b"".join(leaf.tobytes() for leaf in leaves)
        return hashlib.blake2b(data).hexdigest()
