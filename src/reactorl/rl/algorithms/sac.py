# SPDX-License-Identifier: Apache-2.0
"""SAC: soft actor-critic, for continuous actions.

The policy is a normal distribution squashed by tanh to the bounds of the action space.
It maximizes the return plus alpha times its entropy; alpha is tuned such that the
entropy stays near a target. All updates of an iteration are one compiled call.
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
    from types import ModuleType

    from reactorl.rl.algorithms.normalization import RunningStatistics
    from reactorl.rl.flow.algorithm import Array, Spaces

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0
_LOG_2 = float(np.log(2))
_LOG_2_PI = float(np.log(2 * np.pi))


class SACState(NamedTuple):
    """State of the learner."""

    actor: Any
    critics: Any
    target_critics: Any
    log_alpha: Any
    limits: Any
    """Bounds of actions; constant."""
    actor_optimiser: Any
    critic_optimiser: Any
    alpha_optimiser: Any
    key: Any
    """Seeds the sampled actions of updates, together with the number of updates."""
    updates: Any
    statistics: RunningStatistics | None
    """Of observations, if they are normalized."""


@public
@dataclass(frozen=True, kw_only=True)
class SAC(OffPolicyActorCritic):
    """SAC: soft actor-critic, for continuous actions."""

    policy_lr: float = 1e-3
    """Learning rate of Adam for the actor."""
    q_lr: float = 1e-3
    """Learning rate of Adam for the critics and for alpha."""
    policy_frequency: int = 1
    """Updates of the critics per update of the actor and of alpha."""
    target_network_frequency: int = 1
    """Updates of the critics per update of the target networks."""
    alpha: float = 0.2
    """Entropy coefficient if autotune is off."""
    autotune: bool = True
    """Tune the entropy coefficient, beginning at 1, such that the entropy of the
    policy is near -n for n components of an action, in units in which the bounds of
    actions are -1 and 1."""

    name = "SAC"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.policy_frequency >= 1, self, "policy_frequency", "at least 1")
        name = "target_network_frequency"
        require(self.target_network_frequency >= 1, self, name, "at least 1")
        require(self.alpha >= 0, self, "alpha", "0 or more")

    def init(self, spaces_: Spaces, seed: int) -> SACState:
        """Return the state with new networks."""
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        *networks, statistics = self._networks(spaces_, random, outputs_per_action=2)
        key = random.integers(2**32, size=2, dtype=np.uint32)
        first = (np.float32(0.0), np.int32(0))
        actor, critics, limits, key, log_alpha, updates = pytree.on_device(
            (*networks, key, *first)
        )
        return SACState(
            actor,
            critics,
            critics,
            log_alpha,
            limits,
            self._policy_optimiser.init(actor),
            self._q_optimiser.init(critics),
            self._q_optimiser.init(log_alpha),
            key,
            updates,
            statistics,
        )

    # -- acting -----------------------------------------------------------------------

    def _explore(self, outputs: Array, noise: Array) -> Array:
        mean, log_std = _distribution(outputs, np)
        found: Array = np.tanh(mean + np.exp(log_std) * noise)
        return found

    def _greedy(self, outputs: Array) -> Array:
        found: Array = np.tanh(_distribution(outputs, np)[0])
        return found

    # -- learning ---------------------------------------------------------------------

    @cached_property
    def _policy_optimiser(self) -> optax.GradientTransformation:
        return adam(self.policy_lr)

    @cached_property
    def _q_optimiser(self) -> optax.GradientTransformation:
        return adam(self.q_lr)

    def _alpha(self, state: SACState) -> Any:  # noqa: ANN401
        return jnp.exp(state.log_alpha) if self.autotune else jnp.float32(self.alpha)

    def _update(self, state: SACState, batch: Any) -> tuple[SACState, Any]:  # noqa: ANN401
        key, next_key = jax.random.split(key_of(state))
        rows, next_rows = (
            self._inputs(state, batch[name], jnp)
            for name in ("observations", "next_observations")
        )
        choices, log_probs = sample(
            self._outputs(state.actor, next_rows, jnp), next_key
        )
        values = self._q_values(state.target_critics, next_rows, choices)
        next_values = jnp.minimum(*values) - self._alpha(state) * log_probs
        gradients, metrics = self._critic_gradients(state, rows, batch, next_values)
        changes, optimiser = self._q_optimiser.update(gradients, state.critic_optimiser)
        critics = optax.apply_updates(state.critics, changes)
        state = state._replace(critics=critics, critic_optimiser=optimiser)

        def improve(state: SACState) -> tuple[SACState, Any]:
            return self._improve(state, rows, key)

        def keep(state: SACState) -> tuple[SACState, Any]:
            zero = jnp.float32(0.0)
            return state, (zero, zero)

        updates = state.updates + 1
        if self.policy_frequency == 1:
            state, found = improve(state)
        else:
            due = updates % self.policy_frequency == 0
            state, found = jax.lax.cond(due, improve, keep, state)
        actor_loss, entropy = found
        # Zero in updates without a policy update: the mean over all is right.
        metrics["actor_loss"] = actor_loss * self.policy_frequency
        metrics["entropy"] = entropy * self.policy_frequency
        metrics["alpha"] = self._alpha(state)
        target = self._towards(state.critics, state.target_critics)
        if self.target_network_frequency > 1:
            due = updates % self.target_network_frequency == 0
            target = jax.tree.map(
                lambda new, old: jnp.where(due, new, old), target, state.target_critics
            )
        return state._replace(target_critics=target, updates=updates), metrics

    def _improve(
        self,
        state: SACState,
        inputs: Any,  # noqa: ANN401
        key: Any,  # noqa: ANN401
    ) -> tuple[SACState, Any]:
        """Update the actor, and alpha; return the loss and the entropy."""
        alpha = self._alpha(state)

        def loss(actor: Any) -> tuple[Any, Any]:  # noqa: ANN401
            choices, log_probs = sample(self._outputs(actor, inputs, jnp), key)
            value = jnp.minimum(*self._q_values(state.critics, inputs, choices))
            return jnp.mean(alpha * log_probs - value), jnp.mean(log_probs)

        (actor_loss, log_prob), gradients = jax.value_and_grad(loss, has_aux=True)(
            state.actor
        )
        changes, optimiser = self._policy_optimiser.update(
            gradients, state.actor_optimiser
        )
        actor = optax.apply_updates(state.actor, changes)
        state = state._replace(actor=actor, actor_optimiser=optimiser)
        if self.autotune:
            # The gradient of -exp(log_alpha) * (log_prob + target entropy).
            target = -float(np.prod(state.limits["low"].shape))
            gradient = -jnp.exp(state.log_alpha) * (log_prob + target)
            change, optimiser = self._q_optimiser.update(
                gradient, state.alpha_optimiser
            )
            log_alpha = state.log_alpha + change
            state = state._replace(log_alpha=log_alpha, alpha_optimiser=optimiser)
        return state, (actor_loss, -log_prob)


def _distribution(outputs: Any, xp: ModuleType) -> tuple[Any, Any]:  # noqa: ANN401
    """Return mean and log standard deviation of the policy before tanh."""
    mean, log_std = xp.split(outputs, 2, axis=1)
    half = (LOG_STD_MAX - LOG_STD_MIN) / 2
    return mean, LOG_STD_MIN + half * (xp.tanh(log_std) + 1)


def sample(outputs: Any, key: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return sampled choices and their log-probabilities, from an actor's outputs."""
    mean, log_std = _distribution(outputs, jnp)
    noise = jax.random.normal(key, mean.shape)
    raw = mean + jnp.exp(log_std) * noise
    normal = -0.5 * (noise * noise + _LOG_2_PI) - log_std
    # log(1 - tanh(x)^2), without the difference of almost equal numbers.
    slope = 2 * (_LOG_2 - raw - jax.nn.softplus(-2 * raw))
    return jnp.tanh(raw), jnp.sum(normal - slope, axis=1)
