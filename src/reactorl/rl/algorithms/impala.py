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
from reactorl.rl.algorithms.mlp import apply_mlp
from reactorl.rl.algorithms.vtrace import vtrace
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.encoding import network_input

if TYPE_CHECKING:
    from reactorl.rl.flow.algorithm import Spaces


class IMPALAState(NamedTuple):
    """State of the learner."""

    params: Any
    constants: Any
    """Constants of the spaces; see ``policy``."""
    optimiser: Any


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
        made = policy.make(random, spaces_, self.hidden)
        params, constants = jax.tree.map(jnp.asarray, made)
        return IMPALAState(params, constants, self._optimiser.init(params))

    # -- learning ---------------------------------------------------------------------

    def _iteration(
        self,
        state: IMPALAState,
        steps: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
    ) -> tuple[IMPALAState, Any]:
        """Learn from trajectories ``[step, environment, ...]``."""

        def groups(column: Any) -> Any:  # noqa: ANN401
            length, _, *rest = column.shape
            split = column.reshape(length, self.num_minibatches, -1, *rest)
            return jnp.swapaxes(split, 0, 1)

        gradient = jax.grad(self.loss, has_aux=True)

        def minibatch(carry: Any, part: Any) -> Any:  # noqa: ANN401
            params, optimiser = carry
            gradients, found = gradient(params, part, state.constants)
            return self._descend(params, optimiser, rate, gradients), found

        carry, found = jax.lax.scan(
            minibatch, (state.params, state.optimiser), jax.tree.map(groups, steps)
        )
        params, optimiser = carry
        found = jax.tree.map(jnp.mean, found)
        return IMPALAState(params, state.constants, optimiser), found

    def loss(self, params: Any, steps: Any, constants: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return the loss of some environments' trajectories, and metrics."""
        shape = steps["rewards"].shape
        count = shape[0] * shape[1]

        def flat(name: str) -> Any:  # noqa: ANN401
            return steps[name].reshape(count, *steps[name].shape[2:])

        def rows(name: str) -> Any:  # noqa: ANN401
            found = network_input(constants["observations"], flat(name), jnp)
            return found.reshape(count, -1)

        def values_of(name: str) -> Any:  # noqa: ANN401
            found = apply_mlp(params["critic"], rows(name), jnp, "tanh")
            return found.reshape(shape)

        outputs = apply_mlp(params["actor"], rows("observations"), jnp, "tanh")
        mask = flat("action_masks") if "action_masks" in steps else None
        actions = policy.over(constants, outputs, params, mask, jnp)
        log_probs = actions.log_probs(flat("choices")).reshape(shape)
        ratios = jnp.exp(log_probs - steps["log_probs"])
        values = values_of("observations")
        # Targets and advantages are constants of the loss.
        targets, advantages = vtrace(
            *jax.lax.stop_gradient((ratios, values, values_of("next_observations"))),
            steps["rewards"] * self.reward_scale,
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
