# SPDX-License-Identifier: Apache-2.0
"""TD3: twin delayed DDPG, for continuous actions.

A deterministic actor explores with normal noise. Critics learn from smoothed actions of
the target actor, and from the smaller one of two target values; the actor and all
target networks are updated less often. All updates of an iteration are one compiled
call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reactorl.rl._public import public
from reactorl.rl.algorithms import pytree
from reactorl.rl.algorithms._jax import jax, jnp, optax
from reactorl.rl.algorithms.off_policy_actor_critic import (
    OffPolicyActorCritic,
    key_of,
)
from reactorl.rl.algorithms.optimizer import adam
from reactorl.rl.flow.algorithm import require

if TYPE_CHECKING:
    from reactorl.rl.algorithms.normalization import RunningStatistics
    from reactorl.rl.flow.algorithm import Array, Spaces


class TD3State(NamedTuple):
    """State of the learner."""

    actor: Any
    target_actor: Any
    critics: Any
    target_critics: Any
    limits: Any
    """Bounds of actions; constant."""
    actor_optimiser: Any
    critic_optimiser: Any
    key: Any
    """Seeds the smoothing noise of updates, together with the number of updates."""
    updates: Any
    statistics: RunningStatistics | None
    """Of observations, if they are normalized."""


@public
@dataclass(frozen=True, kw_only=True)
class TD3(OffPolicyActorCritic):
    """TD3: twin delayed DDPG, for continuous actions."""

    learning_rate: float = 1e-3
    """Learning rate of Adam, for actor and critics."""
    policy_frequency: int = 2
    """Updates of the critics per update of the actor and of the target networks."""
    exploration_noise: float = 0.1
    """Standard deviation of the noise of rollouts, in units in which the bounds of
    actions are -1 and 1."""
    policy_noise: float = 0.2
    """Standard deviation of the noise that smooths the target actor, in the same
    units."""
    noise_clip: float = 0.5
    """Bound of the smoothing noise."""

    name = "TD3"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.policy_frequency >= 1, self, "policy_frequency", "at least 1")
        for name in ("exploration_noise", "policy_noise", "noise_clip"):
            require(getattr(self, name) >= 0, self, name, "0 or more")

    def init(self, spaces_: Spaces, seed: int) -> TD3State:
        """Return the state with new networks."""
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        *networks, statistics = self._networks(spaces_, random, outputs_per_action=1)
        key = random.integers(2**32, size=2, dtype=np.uint32)
        actor, critics, limits, key, updates = pytree.on_device(
            (*networks, key, np.int32(0))
        )
        return TD3State(
            actor,
            actor,
            critics,
            critics,
            limits,
            self._optimiser.init(actor),
            self._optimiser.init(critics),
            key,
            updates,
            statistics,
        )

    # -- acting -----------------------------------------------------------------------

    def _explore(self, outputs: Array, noise: Array) -> Array:
        choices = self._greedy(outputs)
        found: Array = np.clip(choices + self.exploration_noise * noise, -1, 1)
        return found

    def _greedy(self, outputs: Array) -> Array:
        found: Array = np.tanh(outputs)
        return found

    # -- learning ---------------------------------------------------------------------

    @cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        return adam(self.learning_rate)

    def _update(self, state: TD3State, batch: Any) -> tuple[TD3State, Any]:  # noqa: ANN401
        rows, next_rows = (
            self._inputs(state, batch[name], jnp)
            for name in ("observations", "next_observations")
        )
        choices = jnp.tanh(self._outputs(state.target_actor, next_rows, jnp))
        noise = self.policy_noise * jax.random.normal(key_of(state), choices.shape)
        noise = jnp.clip(noise, -self.noise_clip, self.noise_clip)
        choices = jnp.clip(choices + noise, -1, 1)
        next_values = jnp.minimum(
            *self._q_values(state.target_critics, next_rows, choices)
        )
        gradients, metrics = self._critic_gradients(state, rows, batch, next_values)
        changes, optimiser = self._optimiser.update(gradients, state.critic_optimiser)
        critics = optax.apply_updates(state.critics, changes)
        updates = state.updates + 1
        state = state._replace(
            critics=critics, critic_optimiser=optimiser, updates=updates
        )

        def improve(state: TD3State) -> tuple[TD3State, Any]:
            return self._improve(state, rows)

        def keep(state: TD3State) -> tuple[TD3State, Any]:
            return state, jnp.float32(0.0)

        if self.policy_frequency == 1:
            state, actor_loss = improve(state)
        else:
            due = updates % self.policy_frequency == 0
            state, actor_loss = jax.lax.cond(due, improve, keep, state)
        # Zero in updates without a policy update: the mean over all is right.
        metrics["actor_loss"] = actor_loss * self.policy_frequency
        return state, metrics

    def _improve(self, state: TD3State, inputs: Any) -> tuple[TD3State, Any]:  # noqa: ANN401
        """Update the actor and all target networks; return the actor's loss."""

        def loss(actor: Any) -> Any:  # noqa: ANN401
            choices = jnp.tanh(self._outputs(actor, inputs, jnp))
            return -jnp.mean(self._q_values(state.critics[:1], inputs, choices)[0])

        actor_loss, gradients = jax.value_and_grad(loss)(state.actor)
        changes, optimiser = self._optimiser.update(gradients, state.actor_optimiser)
        actor = optax.apply_updates(state.actor, changes)
        state = state._replace(
            actor=actor,
            target_actor=self._towards(actor, state.target_actor),
            target_critics=self._towards(state.critics, state.target_critics),
            actor_optimiser=optimiser,
        )
        return state, actor_loss
