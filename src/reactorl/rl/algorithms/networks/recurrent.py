# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: GRU and LSTM.

The memory of a layer is a dict of arrays ``[row, size]``, zero at the start of an
episode. Its output is ``h``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from reactorl.rl.algorithms._jax import jax, jnp
from reactorl.rl.algorithms.networks.layers import apply_layer, orthogonal

if TYPE_CHECKING:
    from types import ModuleType

Recurrence: TypeAlias = Literal["none", "gru", "lstm"]
Memory: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True)
class RecurrentLayer(ABC):
    """A layer with memory.

    Attributes:
        size: Of the memory, and of the output.
    """

    size: int

    gates: ClassVar[int]
    """How many times ``size`` the products with inputs and memory are."""
    names: ClassVar[tuple[str, ...]] = ("h",)
    """Of the arrays of a memory."""

    def init(self, random: Any, inputs: int) -> dict[str, Any]:  # noqa: ANN401
        """Return new parameters: one orthogonal matrix for each gate."""

        def matrices(rows: int) -> Any:  # noqa: ANN401
            parts = [
                orthogonal(random, rows, self.size, 1.0) for _ in range(self.gates)
            ]
            return np.concatenate(parts, axis=1)

        wide = self.gates * self.size
        return {
            "wi": matrices(inputs),
            "wh": matrices(self.size),
            "b": np.zeros(wide, np.float32),
        }

    def initial(self, count: int) -> dict[str, Any]:
        """Return the memory at the start of an episode, in so many rows."""
        return {name: np.zeros((count, self.size), np.float32) for name in self.names}

    def project(self, params: Any, inputs: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the part of the gates that does not depend on the memory."""
        return apply_layer({"w": params["wi"], "b": params["b"]}, inputs, xp)

    @abstractmethod
    def step(
        self,
        params: Any,  # noqa: ANN401
        projected: Any,  # noqa: ANN401
        memory: Memory,
        xp: ModuleType,
    ) -> Memory:
        """Return the memory after one step, for projected inputs ``[row, gate]``."""

    def unroll(
        self,
        params: Any,  # noqa: ANN401
        inputs: Any,  # noqa: ANN401
        memory: Memory,
        starts: Any,  # noqa: ANN401
    ) -> Memory:
        """Return the memory after each step of a sequence, in JAX.

        Args:
            params: As returned by ``init``.
            inputs: ``[step, row, feature]``.
            memory: Before the first step.
            starts: Whether a step is the first one of an episode, ``[step, row]``: the
                memory is zero then.
        """

        def one(memory: Memory, step: Any) -> Any:  # noqa: ANN401
            projected, start = step
            kept = {n: jnp.where(start[:, None], 0, m) for n, m in memory.items()}
            after = self.step(params, projected, kept, jnp)
            return after, after

        _, found = jax.lax.scan(
            one, memory, (self.project(params, inputs, jnp), starts)
        )
        return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class GRU(RecurrentLayer):
    """A gated recurrent unit: reset gate, update gate, candidate."""

    gates = 3

    def init(self, random: Any, inputs: int) -> dict[str, Any]:  # noqa: ANN401
        """Return new parameters; the candidate has a bias for the memory, too."""
        params = super().init(random, inputs)
        return {**params, "bh": np.zeros(self.size, np.float32)}

    def step(
        self,
        params: Any,  # noqa: ANN401
        projected: Any,  # noqa: ANN401
        memory: Memory,
        xp: ModuleType,
    ) -> Memory:
        """Return the memory after one step."""
        before = memory["h"]
        inner = _product(before, params["wh"], xp)
        size = self.size
        reset = _sigmoid(projected[:, :size] + inner[:, :size], xp)
        update = _sigmoid(projected[:, size : 2 * size] + inner[:, size : 2 * size], xp)
        kept = reset * (inner[:, 2 * size :] + params["bh"])
        candidate = xp.tanh(projected[:, 2 * size :] + kept)
        return {"h": (1 - update) * candidate + update * before}


@dataclass(frozen=True)
class LSTM(RecurrentLayer):
    """Long short-term memory: input gate, forget gate, candidate, output gate."""

    gates = 4
    names = ("h", "c")

    def init(self, random: Any, inputs: int) -> dict[str, Any]:  # noqa: ANN401
        """Return new parameters; the forget gate starts open, with a bias of 1."""
        params = super().init(random, inputs)
        params["b"][self.size : 2 * self.size] = 1
        return params

    def step(
        self,
        params: Any,  # noqa: ANN401
        projected: Any,  # noqa: ANN401
        memory: Memory,
        xp: ModuleType,
    ) -> Memory:
        """Return the memory after one step."""
        gates = projected + _product(memory["h"], params["wh"], xp)
        size = self.size
        enter, forget, candidate, leave = (
            gates[:, place * size : (place + 1) * size] for place in range(4)
        )
        cell = _sigmoid(forget, xp) * memory["c"]
        cell = cell + _sigmoid(enter, xp) * xp.tanh(candidate)
        return {"h": _sigmoid(leave, xp) * xp.tanh(cell), "c": cell}


def recurrent_layer(kind: Recurrence, size: int) -> RecurrentLayer | None:
    """Return the layer of this kind, None for ``none``."""
    layers = {"gru": GRU, "lstm": LSTM}
    return layers[kind](size) if kind != "none" else None


def _product(rows: Any, weights: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    if xp is not np:
        return rows @ weights
    layer = {"w": weights, "b": np.zeros(weights.shape[1], np.float32)}
    return apply_layer(layer, rows, xp)


def _sigmoid(values: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    # By tanh: the exponential function overflows in NumPy.
    return 0.5 * xp.tanh(0.5 * values) + 0.5
