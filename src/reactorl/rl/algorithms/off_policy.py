# SPDX-License-Identifier: Apache-2.0
"""What DQN, SAC and TD3 share: replay, updates in one call, normalized observations."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.algorithms import pytree
from reactorl.rl.algorithms._jax import jax, jnp
from reactorl.rl.algorithms.networks.compiled import CompiledRows
from reactorl.rl.algorithms.networks.options import NetworkOption
from reactorl.rl.algorithms.normalization import RunningStatistics, normalized
from reactorl.rl.flow.algorithm import require
from reactorl.rl.flow.encoding import network_input
from reactorl.rl.flow.replay import ReplayConfig

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from reactorl.rl.algorithms.networks.network import Network
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Array, Batch, State, Weights

MEAN, SCALE = "mean", "scale"
"""Names of the statistics of observations among the weights."""


@dataclass(frozen=True, kw_only=True)
class OffPolicy(NetworkOption):
    """An off-policy algorithm: it learns from batches of a replay buffer.

    States have the field ``statistics``: those of observations, or None.
    """

    lag: int = 0
    """Policy lag in iterations: rollouts act with weights this many iterations old.
    0: rollouts and learner take turns; 1 or more: they run concurrently."""
    gamma: float = 0.99
    """Discount factor."""
    buffer_size: int = 100_000
    """Capacity of the replay buffer, in transitions."""
    batch_size: int = 64
    """Transitions drawn from the replay buffer for an update."""
    learning_starts: int = 1_000
    """Environment steps before the first update."""
    train_frequency: float = 1.0
    """Environment steps, of all environments together, per update."""
    n_step: int = 1
    """Rewards that are summed, with discounts, before the target bootstraps."""
    norm_obs: bool = False
    """Normalize observations by their running mean and variance, and clip them to
    10. Counted are those that are drawn from the replay buffer."""

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.train_frequency > 0, self, "train_frequency", "above 0")
        require(self.batch_size >= 1, self, "batch_size", "at least 1")
        require(self.n_step >= 1, self, "n_step", "at least 1")

    @property
    def updates_per_iteration(self) -> int:
        """Number of updates in an iteration."""
        return max(1, round(self.steps_per_iteration / self.train_frequency))

    @property
    def replay(self) -> ReplayConfig:
        """The replay buffer."""
        return ReplayConfig(
            capacity=self.buffer_size,
            batch_size=self.batch_size,
            updates=self.updates_per_iteration,
            starts_at=self.learning_starts,
            n_step=self.n_step,
            gamma=self.gamma if self.n_step > 1 else 1.0,
        )

    # -- observations -----------------------------------------------------------------

    @abstractmethod
    def _one_hot(self, owner: State | Weights) -> Any:  # noqa: ANN401
        """Return the constants of the observation space, of a state or of weights."""

    def _initial_statistics(self, shape: tuple[int, ...]) -> RunningStatistics | None:
        """Return the statistics of no observations; None: they are not normalized."""
        return RunningStatistics.initial(int(np.prod(shape))) if self.norm_obs else None

    def _observed(self, state: State, batch: Any) -> State:  # noqa: ANN401
        """Return the state with the observations of a batch in its statistics."""
        if not self.norm_obs:
            return state
        rows = network_input(self._one_hot(state), batch["observations"], jnp)
        statistics = state.statistics.updated(rows.reshape(len(rows), -1))
        return state._replace(statistics=statistics)

    def _normal(self, state: State) -> dict[str, Any]:
        """Return what normalizes observations, for inputs and among the weights."""
        if not self.norm_obs:
            return {}
        return {MEAN: state.statistics.mean, SCALE: state.statistics.scale}

    def _inputs(self, owner: State | Weights, rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return encoded observations as networks read them.

        Args:
            owner: A state, or the weights of one.
            rows: Encoded observations.
            xp: ``numpy`` or ``jax.numpy``.
        """
        inputs = network_input(self._one_hot(owner), rows, xp)
        if not self.norm_obs:
            return inputs
        normal = owner if isinstance(owner, dict) else self._normal(owner)
        return normalized(inputs, normal[MEAN], normal[SCALE], xp)

    @abstractmethod
    def _trunk(self, shape: tuple[int, ...]) -> Network:
        """Return the layers that read observations of a shape."""

    @abstractmethod
    def _read(self, weights: Weights, inputs: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the outputs of the network that acts."""

    def _acting(self, weights: Weights, observations: Array) -> Array:
        """Return the outputs of the network that acts, for encoded observations."""
        one_hot = self._one_hot(weights)
        shape = (len(one_hot["values"]),) if one_hot else observations.shape[1:]
        if self._trunk(shape).compiled:
            found: Array = self._compiled(weights, observations)
            return found
        found = self._read(weights, self._inputs(weights, observations, np), np)
        return found

    @cached_property
    def _compiled(self) -> CompiledRows:
        def forward(weights: Weights, rows: Any) -> Any:  # noqa: ANN401
            return self._read(weights, self._inputs(weights, rows, jnp), jnp)

        return CompiledRows(forward)

    # -- learning ---------------------------------------------------------------------

    def _learned(self, state: State, batches: Sequence[Batch]) -> tuple[State, Any]:
        """Learn from batches, one after the other, in one compiled call."""
        each = {name: np.stack([b[name] for b in batches]) for name in batches[0]}
        found: tuple[State, Any] = self._updates(state, self._columns(each))
        return found

    @abstractmethod
    def _columns(self, batch: Batch) -> dict[str, Array]:
        """Return what an update needs of a batch."""

    @cached_property
    def _updates(self) -> Any:  # noqa: ANN401
        def one(state: State, batch: Any) -> tuple[State, Any]:  # noqa: ANN401
            return self._update(self._observed(state, batch), batch)

        return jax.jit(partial(jax.lax.scan, one))

    @abstractmethod
    def _update(self, state: State, batch: Any) -> tuple[State, Any]:  # noqa: ANN401
        """Return the state after one update, and metrics; compiled by JAX."""

    # -- checkpoints ------------------------------------------------------------------

    def serialize(self, state: State) -> Data:
        """Return the state as plain data."""
        return pytree.flatten(state)

    def deserialize(self, like: State, data: Data) -> State:
        """Return a state from plain data."""
        return pytree.unflatten(like, data)
