# SPDX-License-Identifier: Apache-2.0
"""Policies that act in native code: an MLP, and a distribution over actions.

Every row is computed by the same operations in the same order, so that the bits of an
action do not depend on the batch, the thread or the process that it was computed in.
Random numbers are drawn by NumPy, from the same generator and in the same order as
without native code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from reactorl.rl.algorithms.networks.layers import contiguous
from reactorl.rl.envs.native import _bodies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.rl.algorithms.networks.network import Network
    from reactorl.rl.flow.algorithm import Array, Random

PolicyKind: TypeAlias = Literal["categorical", "normal", "epsilon-greedy"]
_BOUNDS: Final = ("low", "high", "middle", "half")


class NativePolicy:
    """A policy of some weights.

    Args:
        kind: What the outputs of the network mean.
        layers: Of the network, dicts of weights ``w`` and bias ``b``.
        hidden: Activation of the hidden layers.
        one_hot: Constants for ``network_input``, if whole rollouts are native.
        normal: Mean and scale of observations; None: they are not normalized.
        log_std: Of ``normal``.
        limits: Bounds of actions of ``normal``, with middle and half of each range.
        epsilon: Of ``epsilon-greedy``.
        extras: Columns for trajectories, besides observations and actions.
    """

    def __init__(
        self,
        kind: PolicyKind,
        layers: list[Any],
        hidden: str,
        *,
        one_hot: Mapping[str, Array] | None = None,
        normal: tuple[Array, Array] | None = None,
        log_std: Array | None = None,
        limits: Mapping[str, Array] | None = None,
        epsilon: float = 0.0,
        extras: Mapping[str, float] | None = None,
    ) -> None:
        self.kind = kind
        self.has_log_probs = extras is not None
        """Whether trajectories have choices and log-probabilities."""
        self.constants: Mapping[str, float] = extras or {}
        """Columns of trajectories with one number each."""
        self.outputs = int(layers[-1]["b"].shape[0])
        one_hot = one_hot or {}
        mean, scale = normal or (np.empty(0), np.empty(0))
        bounds = [limits[name].reshape(-1).tolist() for name in _BOUNDS if limits]
        self.shape: tuple[int, ...] = limits["low"].shape if limits else ()
        """Of an action."""
        self.core = _bodies.Policy(
            layers=contiguous(layers),
            hidden=hidden,
            kind=kind,
            values=_listed(one_hot.get("values")),
            sources=_listed(one_hot.get("sources")),
            mean=mean.tolist(),
            scale=scale.tolist(),
            log_std=_listed(log_std),
            bounds=bounds,
            epsilon=epsilon,
        )

    def noise(self, random: Random, *shape: int) -> Array:
        """Draw the random numbers of so many rows."""
        if self.kind == "categorical":
            return random.gumbel(size=(*shape, self.outputs))
        if self.kind == "normal":
            return random.standard_normal((*shape, self.outputs), np.float32)
        return random.random(shape)

    def act(
        self, rows: Array, noise: Array | None, masks: Array | None
    ) -> tuple[Array, Array, Array | None]:
        """Return choices, encoded actions, and log-probabilities if there is noise.

        Args:
            rows: Inputs of the network, one row each.
            noise: As returned by ``noise``; None: act greedily.
            masks: Which actions are allowed, one row each; None: all.
        """
        count = len(rows)
        rows = np.ascontiguousarray(rows.reshape(count, -1))
        if masks is not None:
            masks = np.ascontiguousarray(masks)
        logs = np.empty(count, np.float32) if noise is not None else None
        if self.kind != "normal":
            indices = np.empty(count, np.int64)
            self.core.act(
                rows,
                noise=noise,
                masks=masks,
                indices=indices,
                numbers=None,
                actions=None,
                log_probs=logs,
            )
            return indices, indices, logs
        numbers = np.empty((count, self.outputs), np.float32)
        actions = np.empty((count, *self.shape), np.float32)
        self.core.act(
            rows,
            noise=noise,
            masks=None,
            indices=None,
            numbers=numbers,
            actions=actions,
            log_probs=logs,
        )
        return numbers, actions, logs


def _listed(array: Array | None) -> list[Any]:
    return [] if array is None else array.reshape(-1).tolist()


def has_native_layers(network: Network) -> bool:
    """Return whether native code has the layers of a network."""
    from reactorl.rl.algorithms.networks.mlp import MLP

    return type(network) is MLP


def is_unchanged(algorithm: object, owner: type, names: tuple[str, ...]) -> bool:
    """Return whether an algorithm acts by the methods of this class.

    A subclass that replaces one of them acts in another way.
    """
    kind = type(algorithm)
    return all(getattr(kind, name) is getattr(owner, name) for name in names)
