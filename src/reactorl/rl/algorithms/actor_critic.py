# SPDX-License-Identifier: Apache-2.0
"""What PPO and IMPALA share: acting with an actor, and updates from trajectories."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.algorithms import policy, pytree
from reactorl.rl.algorithms._jax import jax, optax
from reactorl.rl.algorithms.mlp import apply_mlp
from reactorl.rl.flow.algorithm import ActOutput, Algorithm, require
from reactorl.rl.flow.encoding import network_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.algorithms.distributions import Distribution
    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import (
        ActInput,
        Array,
        Batch,
        Metrics,
        Random,
        Spaces,
        State,
        Weights,
    )


@dataclass(frozen=True, kw_only=True)
class ActorCritic(Algorithm):
    """An on-policy algorithm with an actor and a critic; see ``policy``."""

    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers, of actor and critic each."""
    learning_rate: float = 1e-3
    """Learning rate of Adam."""
    anneal_lr: bool = True
    """Anneal the learning rate linearly to 0 over the training."""
    gamma: float = 0.99
    """Discount factor."""
    num_minibatches: int = 4
    """Number of minibatches that the transitions of an iteration are split into."""
    ent_coef: float = 0.01
    """Entropy bonus coefficient."""
    vf_coef: float = 0.5
    """Value-loss coefficient."""
    max_grad_norm: float = 0.5
    """Maximum gradient norm; larger gradients are clipped."""
    reward_scale: float = 0.1
    """Factor for rewards in the loss; reported returns are unscaled. Choose it such
    that value estimates are about 10 or less: else the critic's gradients leave little
    of max_grad_norm to the actor."""

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.num_minibatches >= 1, self, "num_minibatches", "at least 1")

    def check_spaces(self, spaces_: Spaces) -> None:
        """Check that there is a policy for these spaces."""
        policy.check(self.name, spaces_)

    def weights(self, state: State) -> Weights:
        """Return the actor and the constants of the spaces, without the critic."""
        found = {key: v for key, v in state.params.items() if key != "critic"}
        return pytree.frozen({**found, "constants": state.constants})

    # -- acting -----------------------------------------------------------------------

    def act(
        self, weights: Weights, inputs: ActInput, random: Random, progress: float
    ) -> ActOutput:
        """Return sampled actions, their log-probabilities, and the progress."""
        actions = self._distribution(weights, inputs)
        choices = actions.sample(random)
        extras = {
            "choices": choices,
            "log_probs": actions.log_probs(choices),
            "progress": np.full(len(choices), progress, np.float32),
        }
        return ActOutput(actions.actions(choices), extras)

    def act_greedy(self, weights: Weights, inputs: ActInput) -> ActOutput:
        """Return the most probable action."""
        actions = self._distribution(weights, inputs)
        return ActOutput(actions.actions(actions.greedy()))

    def _distribution(self, weights: Weights, inputs: ActInput) -> Distribution:
        constants = weights["constants"]
        rows = network_input(constants["observations"], inputs.observations, np)
        rows = self._normalize(weights, rows.reshape(len(rows), -1))
        outputs = apply_mlp(weights["actor"], rows, np, "tanh")
        return policy.over(constants, outputs, weights, inputs.action_mask, np)

    def _normalize(self, weights: Weights, rows: Array) -> Array:
        """Return observations as the actor gets them."""
        return rows

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: State, batches: Sequence[Batch]
    ) -> tuple[State, Metrics, None]:
        """Learn from trajectories ``[step, env, ...]``, in one compiled call each."""
        metrics: Metrics = {}
        for batch in batches:
            wanted = ("observations", "next_observations", "choices", "log_probs")
            steps = {name: batch[name] for name in wanted}
            if "action_masks" in batch:
                steps["action_masks"] = batch["action_masks"]
            steps["rewards"] = batch["rewards"].astype(np.float32)
            steps["terminations"] = batch["terminations"]
            steps["truncations"] = batch["truncations"]
            rate = np.float32(self.learning_rate_at(float(batch["progress"].flat[0])))
            state, found = self._learn(state, steps, rate)
            metrics = {f"losses/{name}": float(found[name]) for name in sorted(found)}
            metrics["charts/learning_rate"] = float(rate)
        return state, metrics, None

    def learning_rate_at(self, progress: float) -> float:
        """Return the learning rate after a fraction of the training.

        Override it for another schedule; its parameters should be fields, so that they
        are part of the identity of a checkpoint.
        """
        return (
            self.learning_rate * (1 - progress)
            if self.anneal_lr
            else (self.learning_rate)
        )

    @abstractmethod
    def _iteration(self, state: State, steps: Any, rate: Any) -> tuple[State, Any]:  # noqa: ANN401
        """Return the state after one iteration, and metrics; compiled by JAX."""

    @cached_property
    def _learn(self) -> Any:  # noqa: ANN401
        return jax.jit(self._iteration)

    @cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        # Without the learning rate: that depends on the progress of the training.
        return optax.chain(
            optax.clip_by_global_norm(self.max_grad_norm), optax.scale_by_adam(eps=1e-5)
        )

    def _descend(
        self,
        params: Any,  # noqa: ANN401
        optimiser: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
        gradients: Any,  # noqa: ANN401
    ) -> tuple[Any, Any]:
        """Return parameters and optimizer state after one step."""
        changes, optimiser = self._optimiser.update(gradients, optimiser, params)
        params = jax.tree.map(lambda p, c: p - rate * c, params, changes)
        return params, optimiser

    # -- checkpoints ------------------------------------------------------------------

    def serialize(self, state: State) -> Data:
        """Return the state as plain data."""
        return pytree.flatten(state)

    def deserialize(self, like: State, data: Data) -> State:
        """Return a state from plain data."""
        return pytree.unflatten(like, data)
