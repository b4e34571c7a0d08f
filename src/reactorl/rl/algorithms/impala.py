# SPDX-License-Identifier: Apache-2.0
"""IMPALA: an actor-critic that corrects for a stale behavior policy with V-trace.

Rollouts record the log-probability of each action. With a policy lag the learner's
weights are newer by that many iterations, which lets rollouts and learner run
concurrently; importance-sampling ratios correct for the difference. An iteration is one
compiled call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reactorl.rl._public import public
from reactorl.rl.algorithms import policy
from reactorl.rl.algorithms._jax import jax, jnp
from reactorl.rl.algorithms.actor_critic import ActorCritic
from reactorl.rl.algorithms.networks.actor_critic import episode_starts
from reactorl.rl.algorithms.vtrace import vtrace
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from reactorl.rl.algorithms.normalization import ReturnStatistics, RunningStatistics
    from reactorl.rl.flow.algorithm import Spaces


class IMPALAState(NamedTuple):
    """State of the learner."""

    params: Any
    constants: Any
    """Constants of the spaces; see ``policy``."""
    optimiser: Any
    statistics: RunningStatistics | None = None
    """Of observations, if they are normalized."""
    returns: ReturnStatistics | None = None
    """Of returns, if rewards are normalized."""


@public
@dataclass(frozen=True, kw_only=True)
class IMPALA(ActorCritic):
    """IMPALA: an actor-critic with V-trace, for pipelined rollouts and learner.

    Unlike in other implementations, rewards are scaled by default: ``reward_scale`` is
    0.1, which suits discounted returns up to about 100. Set it for your environment.
    """

    total_timesteps: int = 256_000
    """Total number of environment steps, rounded up to whole iterations of
    num_envs * num_steps steps."""
    num_steps: int = 32
    """Steps per environment in an iteration."""
    lag: int = 1
    """Policy lag in iterations: rollouts act with weights this many iterations old.
    0: rollouts and learner take turns; 1 or more: they run concurrently."""
    vtrace_lambda: float = 0.95
    """V-trace lambda: 0 = one-step TD, 1 = Monte Carlo."""
    clip_rho: float = 1.0
    """Upper bound of the importance-sampling ratio in TD errors."""
    clip_c: float = 1.0
    """Upper bound of the importance-sampling ratio in the trace."""
    num_minibatches: int = 4
    """Number of minibatches that the environments are split into; one update each."""
    ent_coef: float = 0.001
    """Entropy bonus coefficient."""

    name = "IMPALA"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        if self.num_envs % self.num_minibatches:
            msg = (
                f"num_envs must be divisible by num_minibatches, got "
                f"num_envs={self.num_envs}, num_minibatches={self.num_minibatches}"
            )
            raise FlowError(msg)

    def init(self, spaces_: Spaces, seed: int) -> IMPALAState:
        """Return the state with new networks."""
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        return IMPALAState(**self._init(spaces_, random))

    # -- learning ---------------------------------------------------------------------

    def _iteration(
        self,
        state: IMPALAState,
        steps: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
    ) -> tuple[IMPALAState, Any]:
        """Learn from trajectories ``[step, environment, ...]``."""
        steps, statistics, returns = self._prepared(state, steps)
        parts, memory = self.num_minibatches, steps.pop("memory")
        memory = {
            n: rows.reshape(parts, -1, rows.shape[-1]) for n, rows in memory.items()
        }

        def groups(column: Any) -> Any:  # noqa: ANN401
            length, _, *rest = column.shape
            split = column.reshape(length, parts, -1, *rest)
            return jnp.swapaxes(split, 0, 1)

        gradient = jax.grad(self.loss, has_aux=True)

        def minibatch(carry: Any, part: Any) -> Any:  # noqa: ANN401
            params, optimiser = carry
            gradients, found = gradient(params, part, state.constants)
            return self._descend(params, optimiser, rate, gradients), found

        each = {**jax.tree.map(groups, steps), "memory": memory}
        carry, found = jax.lax.scan(minibatch, (state.params, state.optimiser), each)
        params, optimiser = carry
        found = jax.tree.map(jnp.mean, found)
        return IMPALAState(
            params, state.constants, optimiser, statistics, returns
        ), found

    def loss(self, params: Any, steps: Any, constants: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return the loss of some environments' trajectories, and metrics."""
        shape = steps["rewards"].shape
        count = shape[0] * shape[1]

        def flat(name: str) -> Any:  # noqa: ANN401
            return steps[name].reshape(count, *steps[name].shape[2:])

        outputs, values, next_values = self._evaluated(params, steps)
        mask = flat("action_masks") if "action_masks" in steps else None
        actions = policy.over(constants, outputs, params, mask, jnp)
        log_probs = actions.log_probs(flat("choices")).reshape(shape)
        ratios = jnp.exp(log_probs - steps["log_probs"])
        # Targets and advantages are constants of the loss.
        targets, advantages = vtrace(
            *jax.lax.stop_gradient((ratios, values, next_values)),
            steps["rewards"] * self._reward_factor,
            steps["terminations"],
            steps["truncations"],
            gamma=self.gamma,
            vtrace_lambda=self.vtrace_lambda,
            clip_rho=self.clip_rho,
            clip_c=self.clip_c,
        )
        policy_loss = -jnp.mean(advantages * log_probs)
        value_loss = 0.5 * jnp.mean((targets - values) ** 2)
        entropy = jnp.mean(actions.entropies())
        loss = policy_loss - self.ent_coef * entropy + self.vf_coef * value_loss
        return loss, {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "ratio": jnp.mean(ratios),
            "clipfrac": jnp.mean(ratios > self.clip_rho),
        }

    def _evaluated(self, params: Any, steps: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        """Return outputs, values, and values of next observations."""
        rows, next_rows = steps["observations"], steps["next_observations"]
        shape, networks = rows.shape[:2], self.networks(rows.shape[2:])
        if self.recurrent != "none":
            starts = episode_starts(steps["terminations"], steps["truncations"])
            outputs, values, memory = networks.sequence(
                params, rows, steps["memory"], starts
            )
            outputs = outputs.reshape(-1, outputs.shape[-1])
            return outputs, values, networks.next_values(params, next_rows, memory)
        rows, next_rows = (
            each.reshape(-1, *each.shape[2:]) for each in (rows, next_rows)
        )
        outputs, values = networks.outputs_and_values(params, rows)
        next_values = networks.values(params, next_rows)
        return outputs, values.reshape(shape), next_values.reshape(shape)
