# SPDX-License-Identifier: Apache-2.0
"""Small networks, for JAX where they learn and for NumPy where they act.

Acting takes a few rows at a time: NumPy does that in a tenth of the time that a call of
compiled code takes to begin.
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
"""Of each layer the matrix ``w`` and the row ``b``."""


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
    """Return the layers of a network, from its input to its output.

    Args:
        random: NumPy's generator.
        sizes: Of the input, of each hidden layer, of the output.
        last_scale: How large the numbers of the last layer are.
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
        xp: Whose functions to use: ``numpy`` or ``jax.numpy``.
        hidden: What is between the layers, ``relu`` or ``tanh``.
    """
    if xp is np:
        return _apply_in_place(layers, rows, hidden)
    for layer in layers[:-1]:
        rows = rows @ layer["w"] + layer["b"]
        rows = xp.tanh(rows) if hidden == "tanh" else xp.maximum(rows, 0)
    return rows @ layers[-1]["w"] + layers[-1]["b"]


def _apply_in_place(layers: Layers, rows: Any, hidden: str) -> Any:  # noqa: ANN401
    """Do the same with a few rows, where making arrays takes most of the time."""
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
