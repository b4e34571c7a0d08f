# SPDX-License-Identifier: Apache-2.0
"""Multilayer perceptrons, in JAX for learning and in native code for acting.

Acting has few rows at a time: native code needs less than a tenth of the time that the
call of a compiled function takes, and a row's bits do not depend on its batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from reactorl.rl._public import public
from reactorl.rl.algorithms.networks.layers import (
    apply_layer,
    apply_layers,
    make_layer,
)
from reactorl.rl.algorithms.networks.network import Network

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

Activation: TypeAlias = Literal["relu", "tanh"]
Layers: TypeAlias = "list[dict[str, Any]]"
"""Weights ``w`` and bias ``b`` of each layer."""


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
        layers.append(make_layer(random, rows, columns, scale))
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
        return apply_layers(list(layers), rows, hidden, "none")
    return apply_layer(layers[-1], apply_hidden(layers[:-1], rows, xp, hidden), xp)


def apply_hidden(layers: Layers, rows: Any, xp: ModuleType, hidden: str) -> Any:  # noqa: ANN401
    """Return the output of layers that are all followed by the activation."""
    if xp is np:
        return apply_layers(list(layers), rows, hidden, hidden) if layers else rows
    for layer in layers:
        rows = apply_layer(layer, rows, xp)
        rows = xp.tanh(rows) if hidden == "tanh" else xp.maximum(rows, 0)
    return rows


@dataclass(frozen=True)
class MLP(Network):
    """Hidden layers of a multilayer perceptron; observations are flattened.

    Attributes:
        hidden: Sizes of the layers; none: the features are the observations.
        activation: Of every layer.
    """

    hidden: tuple[int, ...] = (64, 64)
    activation: Activation = "relu"

    compiled = False

    def init(self, random: Any, shape: tuple[int, ...]) -> Layers:  # noqa: ANN401
        """Return new layers."""
        scale = float(np.sqrt(2))
        sizes = pairwise((prod(shape), *self.hidden))
        return [make_layer(random, *size, scale) for size in sizes]

    def size(self, shape: tuple[int, ...]) -> int:
        """Return the number of features."""
        return self.hidden[-1] if self.hidden else prod(shape)

    def apply(self, params: Layers, rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the features of each row."""
        rows = rows.reshape(len(rows), -1)
        return apply_hidden(params, rows, xp, self.activation)
