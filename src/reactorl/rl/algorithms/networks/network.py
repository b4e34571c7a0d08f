# SPDX-License-Identifier: Apache-2.0
"""The interface of a network: observations in, features out.

An algorithm adds output layers ("heads") that are linear in the features. The
parameters of a network are a list, to which its head can be appended.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reactorl.rl.algorithms.networks.layers import apply_layer, make_layer

if TYPE_CHECKING:
    from types import ModuleType

    from reactorl.rl.flow.algorithm import Random


@dataclass(frozen=True)
class Network(ABC):
    """The layers between observations and heads; without state, and hashable."""

    compiled = True
    """Whether acting is a compiled function of JAX; else it is done in NumPy."""

    def check(self, shape: tuple[int, ...]) -> None:  # noqa: B027 - most need nothing
        """Check that the network can read observations of this shape.

        Raises:
            FlowError: It cannot.
        """

    @abstractmethod
    def init(self, random: Random, shape: tuple[int, ...]) -> list[Any]:
        """Return new parameters.

        Args:
            random: Source of all randomness.
            shape: Of one observation.
        """

    @abstractmethod
    def size(self, shape: tuple[int, ...]) -> int:
        """Return the number of features, for observations of this shape."""

    @abstractmethod
    def apply(self, params: list[Any], rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return features ``[row, feature]``.

        Args:
            params: As returned by ``init``.
            rows: Observations ``[row, *shape]`` of floats; see ``network_input``.
            xp: ``numpy`` or ``jax.numpy``.
        """

    def init_with_head(
        self, random: Random, shape: tuple[int, ...], outputs: int, gain: float
    ) -> list[Any]:
        """Return new parameters, the last one of which is a head.

        Args:
            random: Source of all randomness.
            shape: Of one observation.
            outputs: Of the head.
            gain: Of the head's orthogonal initialization.
        """
        layers = self.init(random, shape)
        return [*layers, make_layer(random, self.size(shape), outputs, gain)]

    def apply_with_head(self, params: list[Any], rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the outputs of the head; see ``apply``."""
        return apply_layer(params[-1], self.apply(params[:-1], rows, xp), xp)
