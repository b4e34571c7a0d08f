# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers, in JAX for learning and in native code for acting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.envs.native import _bodies

if TYPE_CHECKING:
    from types import ModuleType


def orthogonal(random: Any, rows: int, columns: int, scale: float) -> Any:  # noqa: ANN401
    """Return a matrix with orthogonal rows or columns."""
    big, small = max(rows, columns), min(rows, columns)
    q, r = np.linalg.qr(random.standard_normal((big, small)))
    q = q * np.sign(np.diag(r))
    matrix = q if rows >= columns else q.T
    return (scale * matrix).astype(np.float32)


def make_layer(random: Any, rows: int, columns: int, scale: float) -> dict[str, Any]:  # noqa: ANN401
    """Return a fully connected layer with orthogonal weights and a bias of 0."""
    weights = orthogonal(random, rows, columns, scale)
    return {"w": weights, "b": np.zeros(columns, np.float32)}


def apply_layer(layer: dict[str, Any], rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    """Return the output of one layer, without activation."""
    if xp is not np:
        return rows @ layer["w"] + layer["b"]
    return apply_layers([layer], rows, "none", "none")


def apply_layers(
    layers: list[dict[str, Any]],
    rows: Any,  # noqa: ANN401
    hidden: str,
    last: str,
) -> Any:  # noqa: ANN401
    """Return the output of layers for each row of an array of NumPy.

    A row's bits do not depend on the other rows, unlike those of a product of
    matrices in NumPy. Arrays that are not ``float32`` are computed in NumPy.

    Args:
        layers: At least one.
        rows: One input each.
        hidden: Activation of all layers but the last.
        last: Activation of the last one: ``relu``, ``tanh`` or ``none``.
    """
    found = np.empty((*rows.shape[:-1], layers[-1]["b"].shape[0]), np.float32)
    inputs = np.ascontiguousarray(rows)
    if _bodies.apply_layers(layers, inputs, found, hidden, last):
        return found
    if _bodies.apply_layers(contiguous(layers), inputs, found, hidden, last):
        return found
    for place, layer in enumerate(layers):
        rows = rows @ layer["w"] + layer["b"]
        activation = last if place == len(layers) - 1 else hidden
        if activation != "none":
            rows = np.tanh(rows) if activation == "tanh" else np.maximum(rows, 0)
    return rows


def contiguous(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return layers with arrays as native code reads them, copied if need be."""
    return [
        {name: np.ascontiguousarray(layer[name]) for name in layer} for layer in layers
    ]
