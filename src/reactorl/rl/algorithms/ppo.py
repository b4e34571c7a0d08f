# SPDX-License-Identifier: Apache-2.0
"""PPO: proximal policy optimization, for discrete or continuous actions.

Rollouts sample actions and record their log-probabilities. The learner estimates
advantages (GAE), and maximizes the clipped objective in several epochs over the
transitions of an iteration. An iteration is one compiled call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reactorl.rl._public import public
from reactorl.rl.algorithms import policy, pytree
from reactorl.rl.algorithms._jax import jax, jnp
from reactorl.rl.algorithms.actor_critic import ActorCritic
from reactorl.rl.algorithms.gae import advantages
from reactorl.rl.algorithms.mlp import apply_mlp
from reactorl.rl.flow.algorithm import FlowError, require
from reactorl.rl.flow.encoding import Encoder, network_input

if TYPE_CHECKING:
    from reactorl.rl.flow.algorithm import Array, Spaces, Weights


class RunningStatistics(NamedTuple):
    """Count, mean and variance of the observations so far, by component."""

    count: Any
    mean: Any
    variance: Any

    @property
    def scale(self) -> Any:  # noqa: ANN401
        """The factor that gives a standard deviation of 1."""
        return 1 / jnp.sqrt(self.variance + 1e-8)

    def updated(self, rows: Any) -> RunningStatistics:  # noqa: ANN401
        """Return the statistics with more observations."""
        count, mean, variance = len(rows), rows.mean(axis=0), rows.var(axis=0)
        total = self.count + count
        delta = mean - self.mean
        squares = self.variance * self.count + variance * count
        squares = squares + delta**2 * self.count * count / total
        mean = self.mean + delta * count / total
        return RunningStatistics(total, mean, squares / total)


class PPOState(NamedTuple):
    """State of the learner."""

    params: Any
    constants: Any
    """Constants of the spaces; see ``policy``."""
    statistics: RunningStatistics
    optimiser: Any
    key: Any
    """Seeds the shuffling of minibatches, together with the number of updates."""
    updates: Any


@dataclass(frozen=True, kw_only=True)
class PPOBase(ActorCritic):
    """Networks, loss and update of PPO, for one agent."""

    total_timesteps: int = 120_000
    """Total number of environment steps, rounded up to whole iterations of
    num_envs * num_steps steps."""
    num_envs: int = 8
    """Number of parallel environments."""
    num_steps: int = 128
    """Steps per environment in an iteration."""
    gae_lambda: float = 0.95
    """GAE lambda: 0 = one-step TD, 1 = Monte Carlo."""
    update_epochs: int = 4
    """Number of epochs over the transitions of an iteration."""
    norm_adv: bool = True
    """Normalize the advantages of each minibatch."""
    clip_coef: float = 0.2
    """Clip range for the probability ratio."""
    clip_vloss: bool = False
    """Clip the value loss as well, with the same range."""
    norm_obs: bool = False
    """Normalize observations by their running mean and variance."""

    name = "PPO"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.update_epochs >= 1, self, "update_epochs", "at least 1")
        if self.steps_per_iteration < self.num_minibatches:
            msg = (
                f"num_minibatches must be at most num_envs * num_steps = "
                f"{self.steps_per_iteration}, got {self.num_minibatches}"
            )
            raise FlowError(msg)

    # -- networks ---------------------------------------------------------------------

    def init(self, spaces_: Spaces, seed: int) -> PPOState:
        """Return the state with new networks."""
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        params, constants = policy.make(random, spaces_, self.hidden)
        key = random.integers(2**32, size=2, dtype=np.uint32)
        inputs = int(np.prod(Encoder(spaces_.observation).input_shape))
        params, constants, key = jax.tree.map(jnp.asarray, (params, constants, key))
        statistics = RunningStatistics(
            jnp.float32(0), jnp.zeros(inputs), jnp.ones(inputs)
        )
        optimiser = self._optimiser.init(params)
        return PPOState(params, constants, statistics, optimiser, key, jnp.int32(0))

    def weights(self, state: PPOState) -> Weights:
        """Return the actor, and what normalizes observations."""
        found = super().weights(state)
        if self.norm_obs:
            statistics = state.statistics
            normal = {"mean": statistics.mean, "scale": statistics.scale}
            found = {**found, **pytree.frozen(normal)}
        return found

    def _normalize(self, weights: Weights, rows: Array) -> Array:
        if not self.norm_obs:
            return rows
        found: Array = _normalized(rows, weights["mean"], weights["scale"], np)
        return found

    # -- learning ---------------------------------------------------------------------

    def _iteration(
        self,
        state: PPOState,
        steps: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
    ) -> tuple[PPOState, Any]:
        """Learn from trajectories ``[step, environment, ...]``."""
        shape = steps["rewards"].shape
        count = shape[0] * shape[1]

        def flat(name: str) -> Any:  # noqa: ANN401
            return steps[name].reshape(count, *steps[name].shape[2:])

        def inputs(name: str) -> Any:  # noqa: ANN401
            rows = network_input(state.constants["observations"], flat(name), jnp)
            return rows.reshape(count, -1)

        raw = inputs("observations")
        rows, next_rows = raw, inputs("next_observations")
        if self.norm_obs:
            # As rollouts saw them: this iteration counts from the next one on.
            mean, scale = state.statistics.mean, state.statistics.scale
            rows = _normalized(rows, mean, scale, jnp)
            next_rows = _normalized(next_rows, mean, scale, jnp)
        values = _values(state.params, rows)
        estimates = advantages(
            steps["rewards"] * self.reward_scale,
            values.reshape(shape),
            _values(state.params, next_rows).reshape(shape),
            steps["terminations"],
            steps["truncations"],
            self.gamma,
            self.gae_lambda,
        ).reshape(count)
        batch = {
            "rows": rows,
            "choices": flat("choices"),
            "log_probs": flat("log_probs"),
            "advantages": estimates,
            "values": values,
            "returns": estimates + values,
        }
        if "action_masks" in steps:
            batch["action_masks"] = flat("action_masks")
        params, optimiser, found = self._epochs(state, batch, rate)
        variance = jnp.var(batch["returns"])
        explained = 1 - jnp.var(estimates) / jnp.where(variance > 0, variance, 1)
        found["explained_variance"] = jnp.where(variance > 0, explained, 0)
        statistics = state.statistics
        if self.norm_obs:
            statistics = statistics.updated(raw)
        updates = state.updates + 1
        return PPOState(
            params, state.constants, statistics, optimiser, state.key, updates
        ), found

    def _epochs(self, state: PPOState, batch: Any, rate: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        """Do all epochs, each in another order."""
        count, parts = len(batch["rows"]), self.num_minibatches
        size = count // parts  # a remainder is left out
        key = jax.random.wrap_key_data(state.key, impl="threefry2x32")
        key = jax.random.fold_in(key, state.updates)

        def order(number: Any) -> Any:  # noqa: ANN401
            return jax.random.permutation(jax.random.fold_in(key, number), count)

        gradient = jax.grad(self.loss, has_aux=True)

        def minibatch(carry: Any, chosen: Any) -> Any:  # noqa: ANN401
            params, optimiser = carry
            part = {name: column[chosen] for name, column in batch.items()}
            gradients, found = gradient(params, part, state.constants)
            return self._descend(params, optimiser, rate, gradients), found

        orders = jax.vmap(order)(jnp.arange(self.update_epochs))
        chosen = orders[:, : parts * size].reshape(-1, size)
        carry = (state.params, state.optimiser)
        (params, optimiser), found = jax.lax.scan(minibatch, carry, chosen)
        return params, optimiser, jax.tree.map(jnp.mean, found)

    def loss(self, params: Any, batch: Any, constants: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return the loss of a minibatch, and metrics."""
        outputs = apply_mlp(params["actor"], batch["rows"], jnp, "tanh")
        mask = batch.get("action_masks")
        actions = policy.over(constants, outputs, params, mask, jnp)
        log_ratio = actions.log_probs(batch["choices"]) - batch["log_probs"]
        ratio = jnp.exp(log_ratio)
        estimates = batch["advantages"]
        if self.norm_adv:
            estimates = (estimates - estimates.mean()) / (estimates.std() + 1e-8)
        clipped_ratio = jnp.clip(ratio, 1 - self.clip_coef, 1 + self.clip_coef)
        policy_loss = -jnp.mean(
            jnp.minimum(estimates * ratio, estimates * clipped_ratio)
        )

        values = _values(params, batch["rows"])
        value_errors = (values - batch["returns"]) ** 2
        if self.clip_vloss:
            delta = jnp.clip(values - batch["values"], -self.clip_coef, self.clip_coef)
            clipped_values = batch["values"] + delta
            value_errors = jnp.maximum(
                value_errors, (clipped_values - batch["returns"]) ** 2
            )
        value_loss = 0.5 * jnp.mean(value_errors)

        entropy = jnp.mean(actions.entropies())
        loss = policy_loss - self.ent_coef * entropy + self.vf_coef * value_loss
        return loss, {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "old_approx_kl": -jnp.mean(log_ratio),
            "approx_kl": jnp.mean(ratio - 1 - log_ratio),
            "clipfrac": jnp.mean(jnp.abs(ratio - 1) > self.clip_coef),
        }


@public
@dataclass(frozen=True, kw_only=True)
class PPO(PPOBase):
    """PPO: proximal policy optimization, for discrete or continuous actions.

    Unlike in other implementations, rewards are scaled by default: ``reward_scale`` is
    0.1, which suits discounted returns up to about 100. Set it for your environment.
    """

    lag: int = 0
    """Policy lag in iterations: rollouts act with weights this many iterations old.
    0: rollouts and learner take turns; 1 or more: they run concurrently."""


def _values(params: Any, rows: Any) -> Any:  # noqa: ANN401
    """Return the critic's values of observations."""
    return apply_mlp(params["critic"], rows, jnp, "tanh")[:, 0]


def _normalized(rows: Any, mean: Any, scale: Any, xp: Any) -> Any:  # noqa: ANN401
    return xp.clip((rows - mean) * scale, -10, 10)
