# SPDX-License-Identifier: Apache-2.0
"""DQN: synchronised parallel Q-learning with a network.

Double Q-learning, a target network, and, as an option of the replay buffer, prioritised
replay. Rollouts act with a copy of the weights and explore at random; one learner does
all updates of a round in one compiled call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from gymnasium import spaces

from reactorl.rl._public import public
from reactorl.rl.algorithms import pytree as trees
from reactorl.rl.algorithms.mlp import apply_mlp, make_mlp
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import (
        Array,
        Batch,
        Metrics,
        Random,
        Spaces,
        Weights,
    )


class DQNState(NamedTuple):
    """What the learner knows."""

    params: Any
    target: Any
    optimiser: Any
    updates: Any


@public
@dataclass(frozen=True)
class DQN:
    """The algorithm, and all that can be chosen about it."""

    hidden: tuple[int, ...] = (256, 256)
    """Sizes of the hidden layers."""
    learning_rate: float = 2.3e-3
    """Of the optimiser Adam."""
    decay: int = 0
    """In how many updates it falls to nothing, in a straight line; 0: it stays."""
    gamma: float = 0.99
    """How much a reward is worth one step later."""
    target_every: int = 128
    """After how many updates the target network is copied."""
    start_e: float = 1.0
    """How often actions are random at the beginning."""
    end_e: float = 0.04
    """How often they are random when exploration is over."""
    exploration_fraction: float = 0.16
    """Which part of the training exploration takes."""
    double: bool = True
    """Whether the network chooses the action that the target network judges."""
    huber: bool = False
    """Whether large errors count by their size and not by its square.

    That keeps updates small where rewards are, too. Where the end of an episode is all
    there is to learn from it takes ends for outliers, and values grow without bound.
    """

    name = "DQN"
    uses_replay = True

    def check(self, spaces_: Spaces) -> None:
        """Refuse anything but a finite set of actions."""
        if not isinstance(spaces_.action, spaces.Discrete):
            msg = f"DQN chooses among a few actions, not from {spaces_.action}"
            raise FlowError(msg, "Use PPO for continuous actions.")
        Encoder(spaces_.observation)

    # -- the network ------------------------------------------------------------------

    def begin(self, spaces_: Spaces, seed: int) -> DQNState:
        """Return a network that knows nothing."""
        assert isinstance(spaces_.action, spaces.Discrete)
        inputs = int(np.prod(Encoder(spaces_.observation).shape))
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        sizes = (inputs, *self.hidden, int(spaces_.action.n))
        params = jax.tree.map(jnp.asarray, make_mlp(random, sizes, last_scale=0.1))
        return DQNState(params, params, self._optimiser.init(params), jnp.int32(0))

    def weights(self, state: DQNState) -> Weights:
        """Return what acting needs."""
        return trees.frozen(state.params)

    # -- acting -----------------------------------------------------------------------

    def act(
        self, weights: Weights, observations: Array, random: Random, progress: float
    ) -> tuple[Array, Batch]:
        """Return the best action, or with a chance of epsilon any."""
        epsilon = self.epsilon(progress)
        best = self.act_best(weights, observations)
        drawn = random.random(len(best))
        # What is below epsilon is anything below it, with equal chances: the fraction
        # of epsilon that it is says which of the actions.
        explores = drawn < epsilon
        count = len(weights[-1]["b"])
        anything = (drawn[explores] * (count / epsilon)).astype(best.dtype)
        best[explores] = np.minimum(anything, count - 1)
        return best, {}

    def epsilon(self, progress: float) -> float:
        """Return how often actions are random."""
        done = min(1.0, progress / self.exploration_fraction)
        return self.start_e + done * (self.end_e - self.start_e)

    def act_best(self, weights: Weights, observations: Array) -> Array:
        """Return the action that is worth most."""
        values = apply_mlp(weights, _rows(observations, np), np)
        best: Array = values.argmax(axis=1)
        return best

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: DQNState, batches: Sequence[Batch]
    ) -> tuple[DQNState, Metrics, Sequence[Array]]:
        """Learn from batches, one after the other, in one compiled call."""
        each = {name: np.stack([b[name] for b in batches]) for name in batches[0]}
        state, seen = self._updates(state, _columns(each))
        losses, values, errors = (np.asarray(part) for part in seen)
        metrics = {
            "losses/td_loss": float(losses.mean()),
            "losses/q_values": float(values.mean()),
        }
        if self.decay:
            rate = self._rate(state.updates)
            metrics["charts/learning_rate"] = float(rate)
        return state, metrics, list(errors)

    @cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        return optax.adam(self._rate if self.decay else self.learning_rate)

    @cached_property
    def _rate(self) -> Any:  # noqa: ANN401
        return optax.linear_schedule(self.learning_rate, 0.0, self.decay)

    @cached_property
    def _updates(self) -> Any:  # noqa: ANN401
        return jax.jit(partial(jax.lax.scan, self._update))

    def _update(self, state: DQNState, batch: Any) -> tuple[DQNState, Any]:  # noqa: ANN401
        grad = jax.grad(self.loss, has_aux=True)
        gradients, seen = grad(state.params, state.target, batch)
        return self._apply(state, gradients), seen

    def _apply(self, state: DQNState, gradients: Any) -> DQNState:  # noqa: ANN401
        changes, optimiser = self._optimiser.update(
            gradients, state.optimiser, state.params
        )
        params = optax.apply_updates(state.params, changes)
        updates = state.updates + 1
        renew = updates % self.target_every == 0
        target = jax.tree.map(
            lambda new, old: jnp.where(renew, new, old), params, state.target
        )
        return DQNState(params, target, optimiser, updates)

    def loss(self, params: Any, target: Any, batch: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return how wrong the network is about a batch, and more about that."""
        rows, after = (
            _rows(batch[name], jnp) for name in ("observations", "next_observations")
        )
        later = apply_mlp(target, after, jnp)
        chooser = apply_mlp(params, after, jnp) if self.double else later
        best = jnp.argmax(chooser, axis=1)
        later = jnp.take_along_axis(later, best[:, None], axis=1)[:, 0]
        wanted = batch["rewards"] + self.gamma * batch["goes_on"] * later
        values = apply_mlp(params, rows, jnp)
        chosen = jnp.take_along_axis(values, batch["actions"][:, None], axis=1)[:, 0]
        errors = chosen - jax.lax.stop_gradient(wanted)
        measure = optax.losses.huber_loss if self.huber else optax.losses.l2_loss
        loss = jnp.mean(batch["importance"] * measure(errors))
        return loss, (loss, chosen, errors)

    # -- learning in two halves, for a parameter server -------------------------------

    def gradients(self, state: DQNState, batch: Batch) -> tuple[Any, Metrics, Array]:
        """Return the gradients of one batch."""
        found, (loss, values, errors) = self._gradients(
            state.params, state.target, _columns(batch)
        )
        metrics = {
            "losses/td_loss": float(loss),
            "losses/q_values": float(np.asarray(values).mean()),
        }
        return trees.frozen(found), metrics, np.asarray(errors)

    def apply(self, state: DQNState, gradients: Any) -> DQNState:  # noqa: ANN401
        """Return the state after one step of the optimiser."""
        found: DQNState = self._applied(state, gradients)
        return found

    @cached_property
    def _gradients(self) -> Any:  # noqa: ANN401
        return jax.jit(jax.grad(self.loss, has_aux=True))

    @cached_property
    def _applied(self) -> Any:  # noqa: ANN401
        return jax.jit(self._apply)

    # -- keeping ----------------------------------------------------------------------

    def saved(self, state: DQNState) -> Data:
        """Return the state as plain data."""
        return trees.told(state)

    def restored(self, like: DQNState, data: Data) -> DQNState:
        """Return a state from plain data."""
        return trees.heard(like, data)


def _columns(batch: Batch) -> dict[str, Array]:
    """Return what the loss needs of a batch."""
    rewards = batch["rewards"].astype(np.float32)
    # What was cut off would have gone on; what ended is worth no more.
    ended = batch["terminations"].astype(np.float32)
    return {
        "observations": batch["observations"],
        "actions": batch["actions"],
        "rewards": rewards,
        "next_observations": batch["next_observations"],
        "goes_on": 1.0 - ended,
        "importance": batch.get("importance", np.ones_like(rewards)),
    }


def _rows(observations: Any, xp: Any) -> Any:  # noqa: ANN401
    """Return observations as rows of numbers."""
    if observations.ndim != 2:
        observations = observations.reshape(len(observations), -1)
    if observations.dtype == xp.float32:
        return observations
    return observations.astype(xp.float32)
