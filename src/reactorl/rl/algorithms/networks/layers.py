# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
    rows = rows @ layer["w"]
    rows += layer["b"]
    return rows
