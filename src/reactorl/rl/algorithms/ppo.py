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
from reactorl.rl.algorithms.networks.actor_critic import episode_starts
from reactorl.rl.flow.algorithm import FlowError, require

if TYPE_CHECKING:
    from reactorl.rl.algorithms.normalization import ReturnStatistics, RunningStatistics
    from reactorl.rl.flow.algorithm import Array, Spaces


class PPOState(NamedTuple):
    """State of the learner."""

    params: Any
    constants: Any
    """Constants of the spaces; see ``policy``."""
    statistics: RunningStatistics | None
    """Of observations, if they are normalized."""
    optimiser: Any
    key: Any
    """Seeds the order of minibatches, together with the number of updates."""
    updates: Any
    returns: ReturnStatistics | None = None
    """Of returns, if rewards are normalized."""


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
    target_kl: float | None = None
    """Upper bound of the approximate KL divergence of a minibatch: at the first one
    above it, the updates of the iteration end. None: no limit."""

    name = "PPO"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.update_epochs >= 1, self, "update_epochs", "at least 1")
        if self.target_kl is not None:
            require(self.target_kl > 0, self, "target_kl", "above 0, or None")
        if self.recurrent != "none" and self.num_envs < self.num_minibatches:
            msg = (
                f"num_minibatches must be at most num_envs = {self.num_envs} for a "
                f"recurrent policy, got {self.num_minibatches}"
            )
            raise FlowError(msg)
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
        common = self._init(spaces_, random)
        key = random.integers(2**32, size=2, dtype=np.uint32)
        key, updates = pytree.on_device((key, np.int32(0)))
        return PPOState(**common, key=key, updates=updates)

    # -- learning ---------------------------------------------------------------------

    def _drawn(self, state: PPOState, shape: tuple[int, ...]) -> dict[str, Array]:
        """Return the order of minibatches: rows of each, one epoch after the other."""
        steps, envs = shape
        count = steps * envs if self.recurrent == "none" else envs
        seed = [*np.asarray(state.key).tolist(), int(state.updates)]
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        orders = [random.permutation(count) for _ in range(self.update_epochs)]
        size = count // self.num_minibatches  # a remainder is left out
        kept = np.stack(orders)[:, : size * self.num_minibatches]
        return {"minibatches": kept.reshape(-1, size).astype(np.int32)}

    def _iteration(
        self,
        state: PPOState,
        steps: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
    ) -> tuple[PPOState, Any]:
        """Learn from trajectories ``[step, environment, ...]``."""
        minibatches = steps["minibatches"]
        steps, statistics, returns = self._prepared(state, steps)
        starts = episode_starts(steps["terminations"], steps["truncations"])
        values, next_values = self._values(state.params, steps, starts)
        estimates = advantages(
            steps["rewards"] * self._reward_factor,
            values,
            next_values,
            steps["terminations"],
            steps["truncations"],
            self.gamma,
            self.gae_lambda,
        )
        batch = {
            "rows": steps["observations"],
            "choices": steps["choices"],
            "log_probs": steps["log_probs"],
            "advantages": estimates,
            "values": values,
            "returns": estimates + values,
        }
        if "action_masks" in steps:
            batch["action_masks"] = steps["action_masks"]
        if self.recurrent == "none":
            batch = {n: c.reshape(-1, *c.shape[2:]) for n, c in batch.items()}
        else:  # sequences, one of each environment
            batch["starts"] = starts
            batch = {n: jnp.swapaxes(c, 0, 1) for n, c in batch.items()}
            batch["memory"] = steps["memory"]
        params, optimiser, found = self._epochs(state, batch, minibatches, rate)
        variance = jnp.var(batch["returns"])
        explained = 1 - jnp.var(estimates) / jnp.where(variance > 0, variance, 1)
        found["explained_variance"] = jnp.where(variance > 0, explained, 0)
        return state._replace(
            params=params,
            statistics=statistics,
            returns=returns,
            optimiser=optimiser,
            updates=state.updates + 1,
        ), found

    def _values(self, params: Any, steps: Any, starts: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return the values of observations and of next observations."""
        rows, next_rows = steps["observations"], steps["next_observations"]
        shape = steps["rewards"].shape
        networks = self.networks(rows.shape[2:])
        # Images of minibatches, one after the other: all at once take much memory.
        whole = shape[0] * shape[1] % self.num_minibatches
        chunks = 1 if whole or not networks.network.compiled else self.num_minibatches
        if self.recurrent != "none":
            memory = steps["memory"]
            _, values, after = networks.sequence(params, rows, memory, starts, chunks)
            return values, networks.next_values(params, next_rows, after, chunks)
        values, next_values = (
            networks.values(params, each.reshape(-1, *each.shape[2:]), chunks)
            for each in (rows, next_rows)
        )
        return values.reshape(shape), next_values.reshape(shape)

    def _epochs(
        self,
        state: PPOState,
        batch: Any,  # noqa: ANN401
        minibatches: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
    ) -> tuple[Any, Any, Any]:
        """Do one update for each minibatch, given by its rows."""
        gradient = jax.grad(self.loss, has_aux=True)

        def minibatch(carry: Any, chosen: Any) -> Any:  # noqa: ANN401
            params, optimiser = carry
            part = jax.tree.map(lambda column: column[chosen], batch)
            gradients, found = gradient(params, part, state.constants)
            return self._descend(params, optimiser, rate, gradients), found

        carry = (state.params, state.optimiser)
        if self.target_kl is not None:
            return self._until_kl(minibatch, carry, minibatches)
        (params, optimiser), found = jax.lax.scan(minibatch, carry, minibatches)
        return params, optimiser, jax.tree.map(jnp.mean, found)

    def _until_kl(
        self,
        minibatch: Any,  # noqa: ANN401
        carry: Any,  # noqa: ANN401
        chosen: Any,  # noqa: ANN401
    ) -> tuple[Any, Any, Any]:
        """Do minibatches until the KL divergence of one is above the limit."""
        _, like = jax.eval_shape(minibatch, carry, chosen[0])
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)

        def one(state: Any, part: Any) -> Any:  # noqa: ANN401
            carry, active = state

            def learn() -> Any:  # noqa: ANN401
                after, found = minibatch(carry, part)
                near = found["approx_kl"] <= self.target_kl
                # Its own gradient is dropped: it would lead further away.
                kept = jax.tree.map(
                    lambda new, old: jnp.where(near, new, old), after, carry
                )
                return (kept, near), found

            def skip() -> Any:  # noqa: ANN401
                return state, zeros

            after, found = jax.lax.cond(active, learn, skip)
            return after, (found, active)

        state, (found, active) = jax.lax.scan(one, (carry, jnp.ones((), bool)), chosen)
        count = jnp.sum(active)
        means = jax.tree.map(lambda column: jnp.sum(column) / count, found)
        means["minibatches"] = count
        return *state[0], means

    def loss(self, params: Any, batch: Any, constants: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return the loss of a minibatch, and metrics."""
        outputs, values, batch = self._evaluated(params, batch)
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

    def _evaluated(self, params: Any, batch: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        """Return outputs and values of a minibatch, and its columns in their order."""
        rows = batch["rows"]
        if self.recurrent == "none":
            networks = self.networks(rows.shape[1:])
            return *networks.outputs_and_values(params, rows), batch
        batch = dict(batch)
        memory = batch.pop("memory")
        steps = {name: jnp.swapaxes(column, 0, 1) for name, column in batch.items()}
        networks = self.networks(rows.shape[2:])
        outputs, values, _ = networks.sequence(
            params, steps["rows"], memory, steps["starts"]
        )
        flat = {n: column.reshape(-1, *column.shape[2:]) for n, column in steps.items()}
        return outputs.reshape(-1, outputs.shape[-1]), values.reshape(-1), flat


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
