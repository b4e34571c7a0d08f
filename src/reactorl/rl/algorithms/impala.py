# SPDX-License-Identifier: Apache-2.0
"""IMPALA: an actor and a critic that learn from steps of older weights (V-trace).

Rollouts send along how likely each action was for them. By the time the learner sees
it, the weights may be others: with a flow's ``lag`` by that many rounds, which is what
lets rollouts and learner run side by side. The ratio of the two chances, cut off where
it is large, corrects for that. All of a round is one compiled call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from reactorl.rl._public import public
from reactorl.rl.algorithms import actor_critic as policy
from reactorl.rl.algorithms import pytree as trees
from reactorl.rl.algorithms.mlp import apply_mlp
from reactorl.rl.flow.algorithm import FlowError

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


class IMPALAState(NamedTuple):
    """What the learner knows."""

    params: Any
    limits: Any
    """Bounds of actions; they never change."""
    optimiser: Any


@public
@dataclass(frozen=True)
class IMPALA:
    """The algorithm, and all that can be chosen about it."""

    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers, of the actor as of the critic."""
    learning_rate: float = 1e-3
    """Of the optimiser Adam."""
    anneal_lr: bool = True
    """Whether the learning rate falls to zero until the end of the training."""
    gamma: float = 0.99
    """How much a reward is worth one step later."""
    vtrace_lambda: float = 1.0
    """How far targets look at rewards rather than at values: 0 one step, 1 all."""
    clip_rho: float = 1.0
    """Where ratios are cut off that say how much a step counts."""
    clip_c: float = 1.0
    """Where ratios are cut off that say how much later steps count for earlier ones."""
    num_minibatches: int = 1
    """Into how many groups environments are split; each gives an update."""
    ent_coef: float = 0.01
    """How much being undecided is worth."""
    vf_coef: float = 0.5
    """How much errors of values count."""
    max_grad_norm: float = 0.5
    """How long a gradient may be."""
    reward_scale: float = 1.0
    """What rewards are multiplied by for learning; scores are not.

    Where values are large, gradients of the critic leave little of ``max_grad_norm`` to
    the actor: choose it such that values are around 10 or less.
    """

    name = "IMPALA"
    uses_replay = False

    def check(self, spaces_: Spaces) -> None:
        """Refuse actions that are neither a few nor arrays of real numbers."""
        policy.check(self.name, spaces_)
        if self.num_minibatches < 1:
            msg = f"num_minibatches is {self.num_minibatches}"
            raise FlowError(msg, "It is 1 or more.")

    def check_round(self, steps: int, num_envs: int) -> None:
        """Refuse environments that cannot be split into groups of one size."""
        if num_envs % self.num_minibatches:
            msg = (
                f"{num_envs} environments do not divide into {self.num_minibatches} "
                f"minibatches of {self.name}"
            )
            raise FlowError(msg, "Choose a number of minibatches that divides them.")

    # -- the networks -----------------------------------------------------------------

    def begin(self, spaces_: Spaces, seed: int) -> IMPALAState:
        """Return networks that know nothing."""
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        made = policy.make(random, spaces_, self.hidden)
        params, limits = jax.tree.map(jnp.asarray, made)
        return IMPALAState(params, limits, self._optimiser.init(params))

    def weights(self, state: IMPALAState) -> Weights:
        """Return what acting needs: no critic."""
        found = {key: v for key, v in state.params.items() if key != "critic"}
        return trees.frozen({**found, "limits": state.limits})

    # -- acting -----------------------------------------------------------------------

    def act(
        self, weights: Weights, observations: Array, random: Random, progress: float
    ) -> tuple[Array, Batch]:
        """Return an action at random, how likely it was, and how late it is."""
        outputs, log_std = self._outputs(weights, observations)
        choices = policy.draw(outputs, log_std, random)
        extras = {
            "choices": choices,
            "log_probs": policy.log_probs(outputs, log_std, choices, np),
            "progress": np.full(len(choices), progress, np.float32),
        }
        return policy.actions(choices, weights["limits"]), extras

    def act_best(self, weights: Weights, observations: Array) -> Array:
        """Return the likeliest action."""
        choices = policy.likeliest(*self._outputs(weights, observations))
        return policy.actions(choices, weights["limits"])

    def _outputs(
        self, weights: Weights, observations: Array
    ) -> tuple[Array, Array | None]:
        rows = observations.reshape(len(observations), -1).astype(np.float32)
        return apply_mlp(weights["actor"], rows, np, "tanh"), weights.get("log_std")

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: IMPALAState, batches: Sequence[Batch]
    ) -> tuple[IMPALAState, Metrics, None]:
        """Learn from rounds, one after the other, in one compiled call each."""
        metrics: Metrics = {}
        for batch in batches:
            self.check_round(*batch["rewards"].shape)
            wanted = ("observations", "next_observations", "choices", "log_probs")
            steps = {name: batch[name] for name in wanted}
            steps["rewards"] = batch["rewards"].astype(np.float32)
            steps["terminations"] = batch["terminations"]
            steps["truncations"] = batch["truncations"]
            left = 1 - float(batch["progress"].flat[0]) if self.anneal_lr else 1.0
            rate = np.float32(self.learning_rate * left)
            state, found = self._learn(state, steps, rate)
            metrics = {f"losses/{name}": float(found[name]) for name in sorted(found)}
            metrics["charts/learning_rate"] = float(rate)
        return state, metrics, None

    @cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        # The learning rate is not in here: it depends on how late it is.
        return optax.chain(
            optax.clip_by_global_norm(self.max_grad_norm), optax.scale_by_adam(eps=1e-5)
        )

    @cached_property
    def _learn(self) -> Any:  # noqa: ANN401
        return jax.jit(self._round)

    def _round(
        self,
        state: IMPALAState,
        steps: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
    ) -> tuple[IMPALAState, Any]:
        """Learn from a round, ``[step, environment, ...]``."""

        def groups(column: Any) -> Any:  # noqa: ANN401
            length, _, *rest = column.shape
            split = column.reshape(length, self.num_minibatches, -1, *rest)
            return jnp.swapaxes(split, 0, 1)

        def minibatch(knows: Any, part: Any) -> Any:  # noqa: ANN401
            params, optimiser = knows
            gradients, found = jax.grad(self.loss, has_aux=True)(params, part)
            changes, optimiser = self._optimiser.update(gradients, optimiser, params)
            params = jax.tree.map(lambda p, c: p - rate * c, params, changes)
            return (params, optimiser), found

        knows, found = jax.lax.scan(
            minibatch, (state.params, state.optimiser), jax.tree.map(groups, steps)
        )
        params, optimiser = knows
        found = jax.tree.map(jnp.mean, found)
        return IMPALAState(params, state.limits, optimiser), found

    def loss(self, params: Any, steps: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return how bad networks are on some environments, and more about that."""
        shape = steps["rewards"].shape
        count = shape[0] * shape[1]

        def flat(name: str) -> Any:  # noqa: ANN401
            return steps[name].reshape(count, *steps[name].shape[2:])

        def rows(name: str) -> Any:  # noqa: ANN401
            return steps[name].reshape(count, -1).astype(jnp.float32)

        def values_of(name: str) -> Any:  # noqa: ANN401
            found = apply_mlp(params["critic"], rows(name), jnp, "tanh")
            return found.reshape(shape)

        outputs = apply_mlp(params["actor"], rows("observations"), jnp, "tanh")
        log_std = params.get("log_std")
        now = policy.log_probs(outputs, log_std, flat("choices"), jnp).reshape(shape)
        ratios = jnp.exp(now - steps["log_probs"])
        values = values_of("observations")
        # Targets and advantages are what is aimed at; nothing is learned through them.
        targets, better = vtrace(
            *jax.lax.stop_gradient((ratios, values, values_of("next_observations"))),
            steps["rewards"] * self.reward_scale,
            steps["terminations"],
            steps["truncations"],
            gamma=self.gamma,
            vtrace_lambda=self.vtrace_lambda,
            clip_rho=self.clip_rho,
            clip_c=self.clip_c,
        )
        policy_loss = -jnp.mean(better * now)
        value_loss = 0.5 * jnp.mean((targets - values) ** 2)
        entropy = jnp.mean(policy.entropies(outputs, log_std, jnp))
        loss = policy_loss - self.ent_coef * entropy + self.vf_coef * value_loss
        return loss, {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "ratio": jnp.mean(ratios),
            "clipfrac": jnp.mean(ratios > self.clip_rho),
        }

    # -- keeping ----------------------------------------------------------------------

    def saved(self, state: IMPALAState) -> Data:
        """Return the state as plain data."""
        return trees.told(state)

    def restored(self, like: IMPALAState, data: Data) -> IMPALAState:
        """Return a state from plain data."""
        return trees.heard(like, data)


def vtrace(
    ratios: Any,  # noqa: ANN401
    values: Any,  # noqa: ANN401
    next_values: Any,  # noqa: ANN401
    rewards: Any,  # noqa: ANN401
    terminations: Any,  # noqa: ANN401
    truncations: Any,  # noqa: ANN401
    *,
    gamma: float,
    vtrace_lambda: float = 1.0,
    clip_rho: float = 1.0,
    clip_c: float = 1.0,
) -> tuple[Any, Any]:
    """Return what values should be, and how much better steps were than they said.

    All are ``[step, environment]``; ``next_values`` are those of the observations that
    steps led to, also where an episode was cut off there. What was cut off would have
    gone on, and is worth that value; what ended is worth no more.

    Args:
        ratios: How likely an action is now, by how likely it was for the rollout.
        values: What the critic thinks of observations.
        next_values: What it thinks of those that followed.
        rewards: Of steps.
        terminations: Where an episode ended.
        truncations: Where one was cut off.
        gamma: How much a reward is worth one step later.
        vtrace_lambda: How far to look at rewards rather than at values.
        clip_rho: Where ratios are cut off that say how much a step counts.
        clip_c: Where they are for what later steps count for earlier ones.
    """
    rho = jnp.minimum(ratios, clip_rho)
    c = vtrace_lambda * jnp.minimum(ratios, clip_c)
    discounts = gamma * (1 - terminations)
    goes_on = 1 - (terminations | truncations)
    surprise = rho * (rewards + discounts * next_values - values)

    def back(later: Any, step: Any) -> Any:  # noqa: ANN401
        surprise, through = step
        found = surprise + through * later
        return found, found

    nothing = jnp.zeros_like(surprise[0])
    through = gamma * goes_on * c
    _, above = jax.lax.scan(back, nothing, (surprise, through), reverse=True)
    targets = values + above
    # Where the next step is of the same episode, its target says more than its value.
    same = goes_on[:-1] == 1
    following = jnp.where(same, targets[1:], next_values[:-1])
    following = jnp.concatenate([following, next_values[-1:]])
    return targets, rho * (rewards + discounts * following - values)
