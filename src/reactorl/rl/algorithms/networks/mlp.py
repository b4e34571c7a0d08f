# SPDX-License-Identifier: Apache-2.0
"""Multilayer perceptrons, in JAX for learning and in NumPy for acting.

Acting has few rows at a time: NumPy needs a tenth of the time that the call of a
compiled function takes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reactorl.rl._public import public

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

Layers: TypeAlias = "list[dict[str, Any]]"
"""Weights ``w`` and bias ``b`` of each layer."""


def orthogonal(random: Any, rows: int, columns: int, scale: float) -> Any:  # noqa: ANN401
    """Return a matrix with orthogonal rows or columns."""
    big, small = max(rows, columns), min(rows, columns)
    q, r = np.linalg.qr(random.standard_normal((big, small)))
    q = q * np.sign(np.diag(r))
    matrix = q if rows >= columns else q.T
    return (scale * matrix).astype(np.float32)


@public
def make_mlp(
    random: Any,  # noqa: ANN401
    sizes: Sequence[int],
    last_scale: float,
) -> Layers:
    """Return the layers of a new network, from input to output.

    Args:
        random: A generator of NumPy.
        sizes: Of the input, each hidden layer, and the output.
        last_scale: Gain of the last layer's orthogonal initialization.
    """
    layers: Layers = []
    for place, (rows, columns) in enumerate(pairwise(sizes)):
        scale = last_scale if place == len(sizes) - 2 else float(np.sqrt(2))
        layers.append(
            {
                "w": orthogonal(random, rows, columns, scale),
                "b": np.zeros(columns, np.float32),
            }
        )
    return layers


@public
def apply_mlp(layers: Layers, rows: Any, xp: ModuleType, hidden: str = "relu") -> Any:  # noqa: ANN401
    """Return the network's output for each row.

    Args:
        layers: The network.
        rows: One input each.
        xp: ``numpy`` or ``jax.numpy``.
        hidden: Activation of hidden layers, ``relu`` or ``tanh``.
    """
    if xp is np:
        return _apply_in_place(layers, rows, hidden)
    for layer in layers[:-1]:
        rows = rows @ layer["w"] + layer["b"]
        rows = xp.tanh(rows) if hidden == "tanh" else xp.maximum(rows, 0)
    return rows @ layers[-1]["w"] + layers[-1]["b"]


def _apply_in_place(layers: Layers, rows: Any, hidden: str) -> Any:  # noqa: ANN401
    """Do the same in NumPy, without temporary arrays."""
    last = len(layers) - 1
    for place, layer in enumerate(layers):
        rows = rows @ layer["w"]
        rows += layer["b"]
        if place == last:
            break
        if hidden == "tanh":
            np.tanh(rows, out=rows)
        else:
            np.maximum(rows, 0, out=rows)
    return rows
