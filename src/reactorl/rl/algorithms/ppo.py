# SPDX-License-Identifier: Apache-2.0
"""PPO: proximal policy optimisation, for a few actions or for arrays of numbers.

Rollouts draw actions and send along how likely each was. The learner estimates how much
better each was than expected, and makes better ones likelier, in several passes over
the steps of a round, but only as far as a clipped ratio allows. All of a round is one
compiled call.
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


class Seen(NamedTuple):
    """What observations were like so far, number by number."""

    count: Any
    mean: Any
    variance: Any


class PPOState(NamedTuple):
    """What the learner knows."""

    params: Any
    limits: Any
    """Bounds of actions; they never change."""
    seen: Seen
    optimiser: Any
    key: Any
    """What shuffling follows from, together with the number of updates."""
    updates: Any


@public
@dataclass(frozen=True)
class PPO:
    """The algorithm, and all that can be chosen about it."""

    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers, of the actor as of the critic."""
    learning_rate: float = 2.5e-4
    """Of the optimiser Adam."""
    anneal_lr: bool = True
    """Whether the learning rate falls to zero until the end of the training."""
    gamma: float = 0.99
    """How much a reward is worth one step later."""
    gae_lambda: float = 0.95
    """How far advantages look at rewards rather than at values: 0 one step, 1 all."""
    num_minibatches: int = 4
    """Into how many parts the steps of a round are split; what is left over waits."""
    update_epochs: int = 4
    """How often the steps of a round are gone through."""
    norm_adv: bool = True
    """Whether advantages of a minibatch get mean 0 and deviation 1."""
    clip_coef: float = 0.2
    """How far from 1 the ratio of new and old chances is of use."""
    clip_vloss: bool = False
    """Whether values are kept as near to the old ones, too."""
    ent_coef: float = 0.01
    """How much being undecided is worth."""
    vf_coef: float = 0.5
    """How much errors of values count."""
    max_grad_norm: float = 0.5
    """How long a gradient may be."""
    norm_obs: bool = False
    """Whether observations get mean 0 and deviation 1, as seen so far."""
    reward_scale: float = 1.0
    """What rewards are multiplied by for learning; scores are not.

    Where values are large, gradients of the critic leave little of ``max_grad_norm`` to
    the actor: choose it such that values are around 10 or less.
    """

    name = "PPO"
    uses_replay = False

    def check(self, spaces_: Spaces) -> None:
        """Refuse actions that are neither a few nor arrays of real numbers."""
        policy.check(self.name, spaces_)
        for name in ("num_minibatches", "update_epochs"):
            if getattr(self, name) < 1:
                msg = f"{name} is {getattr(self, name)}"
                raise FlowError(msg, "It is 1 or more.")

    def check_round(self, steps: int, num_envs: int) -> None:
        """Refuse a round that has fewer steps than parts."""
        if steps * num_envs < self.num_minibatches:
            msg = (
                f"a round has {steps * num_envs} steps, and {self.name} splits them "
                f"into {self.num_minibatches} minibatches"
            )
            raise FlowError(msg, "Do more steps in a round, or have fewer minibatches.")

    # -- the networks -----------------------------------------------------------------

    def begin(self, spaces_: Spaces, seed: int) -> PPOState:
        """Return networks that know nothing."""
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        params, limits = policy.make(random, spaces_, self.hidden)
        key = random.integers(2**32, size=2, dtype=np.uint32)
        inputs = int(np.prod(Encoder(spaces_.observation).shape))
        params, limits, key = jax.tree.map(jnp.asarray, (params, limits, key))
        seen = Seen(jnp.float32(0), jnp.zeros(inputs), jnp.ones(inputs))
        optimiser = self._optimiser.init(params)
        return PPOState(params, limits, seen, optimiser, key, jnp.int32(0))

    def weights(self, state: PPOState) -> Weights:
        """Return what acting needs: no critic, and observations as seen so far."""
        found = {key: v for key, v in state.params.items() if key != "critic"}
        found["limits"] = state.limits
        if self.norm_obs:
            found["mean"], found["scale"] = state.seen.mean, _scale(state.seen)
        return trees.frozen(found)

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
        if self.norm_obs:
            rows = _normalised(rows, weights["mean"], weights["scale"], np)
        outputs = apply_mlp(weights["actor"], rows, np, "tanh")
        return outputs, weights.get("log_std")

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: PPOState, batches: Sequence[Batch]
    ) -> tuple[PPOState, Metrics, None]:
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
        state: PPOState,
        steps: Any,  # noqa: ANN401
        rate: Any,  # noqa: ANN401
    ) -> tuple[PPOState, Any]:
        """Learn from a round, ``[step, environment, ...]``."""
        shape = steps["rewards"].shape
        count = shape[0] * shape[1]

        def flat(name: str) -> Any:  # noqa: ANN401
            return steps[name].reshape(count, -1).astype(jnp.float32)

        raw = flat("observations")
        rows, after = raw, flat("next_observations")
        if self.norm_obs:
            # As rollouts saw them: what this round adds counts from the next one on.
            mean, scale = state.seen.mean, _scale(state.seen)
            rows = _normalised(rows, mean, scale, jnp)
            after = _normalised(after, mean, scale, jnp)
        values = _values(state.params, rows)
        better = advantages(
            steps["rewards"] * self.reward_scale,
            values.reshape(shape),
            _values(state.params, after).reshape(shape),
            steps["terminations"],
            steps["truncations"],
            self.gamma,
            self.gae_lambda,
        ).reshape(count)
        batch = {
            "rows": rows,
            "choices": steps["choices"].reshape(count, *steps["choices"].shape[2:]),
            "log_probs": steps["log_probs"].reshape(count),
            "advantages": better,
            "values": values,
            "returns": better + values,
        }
        params, optimiser, found = self._epochs(state, batch, rate)
        spread = jnp.var(batch["returns"])
        explained = 1 - jnp.var(better) / jnp.where(spread > 0, spread, 1)
        found["explained_variance"] = jnp.where(spread > 0, explained, 0)
        seen = _more_seen(state.seen, raw) if self.norm_obs else state.seen
        updates = state.updates + 1
        return PPOState(
            params, state.limits, seen, optimiser, state.key, updates
        ), found

    def _epochs(self, state: PPOState, batch: Any, rate: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        """Go through all steps, each time in another order."""
        count, parts = len(batch["rows"]), self.num_minibatches
        size = count // parts
        key = jax.random.wrap_key_data(state.key, impl="threefry2x32")
        key = jax.random.fold_in(key, state.updates)

        def order(number: Any) -> Any:  # noqa: ANN401
            return jax.random.permutation(jax.random.fold_in(key, number), count)

        def minibatch(knows: Any, chosen: Any) -> Any:  # noqa: ANN401
            params, optimiser = knows
            part = {name: column[chosen] for name, column in batch.items()}
            gradients, found = jax.grad(self.loss, has_aux=True)(params, part)
            changes, optimiser = self._optimiser.update(gradients, optimiser, params)
            params = jax.tree.map(lambda p, c: p - rate * c, params, changes)
            return (params, optimiser), found

        orders = jax.vmap(order)(jnp.arange(self.update_epochs))
        chosen = orders[:, : parts * size].reshape(-1, size)
        knows = (state.params, state.optimiser)
        (params, optimiser), found = jax.lax.scan(minibatch, knows, chosen)
        return params, optimiser, jax.tree.map(jnp.mean, found)

    def loss(self, params: Any, batch: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return how bad networks are on a minibatch, and more about that."""
        outputs = apply_mlp(params["actor"], batch["rows"], jnp, "tanh")
        log_std = params.get("log_std")
        now = policy.log_probs(outputs, log_std, batch["choices"], jnp)
        change = now - batch["log_probs"]
        ratio = jnp.exp(change)
        better = batch["advantages"]
        if self.norm_adv:
            better = (better - better.mean()) / (better.std() + 1e-8)
        within = jnp.clip(ratio, 1 - self.clip_coef, 1 + self.clip_coef)
        policy_loss = -jnp.mean(jnp.minimum(better * ratio, better * within))

        values = _values(params, batch["rows"])
        wrong = (values - batch["returns"]) ** 2
        if self.clip_vloss:
            moved = jnp.clip(values - batch["values"], -self.clip_coef, self.clip_coef)
            near = batch["values"] + moved
            wrong = jnp.maximum(wrong, (near - batch["returns"]) ** 2)
        value_loss = 0.5 * jnp.mean(wrong)

        entropy = jnp.mean(policy.entropies(outputs, log_std, jnp))
        loss = policy_loss - self.ent_coef * entropy + self.vf_coef * value_loss
        return loss, {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "old_approx_kl": -jnp.mean(change),
            "approx_kl": jnp.mean(ratio - 1 - change),
            "clipfrac": jnp.mean(jnp.abs(ratio - 1) > self.clip_coef),
        }

    # -- keeping ----------------------------------------------------------------------

    def saved(self, state: PPOState) -> Data:
        """Return the state as plain data."""
        return trees.told(state)

    def restored(self, like: PPOState, data: Data) -> PPOState:
        """Return a state from plain data."""
        return trees.heard(like, data)


def advantages(
    rewards: Any,  # noqa: ANN401
    values: Any,  # noqa: ANN401
    next_values: Any,  # noqa: ANN401
    terminations: Any,  # noqa: ANN401
    truncations: Any,  # noqa: ANN401
    gamma: float,
    gae_lambda: float,
) -> Any:  # noqa: ANN401
    """Return how much better each step was than its value said (GAE).

    All are ``[step, environment]``; ``next_values`` are those of the observations that
    steps led to, also where an episode was cut off there. What was cut off would have
    gone on, and is worth that value; what ended is worth no more. Beyond either, steps
    belong to another episode.
    """
    surprise = rewards + gamma * next_values * (1 - terminations) - values
    goes_on = 1 - (terminations | truncations)

    def back(later: Any, step: Any) -> Any:  # noqa: ANN401
        surprise, goes_on = step
        found = surprise + gamma * gae_lambda * goes_on * later
        return found, found

    nothing = jnp.zeros_like(surprise[0])
    _, found = jax.lax.scan(back, nothing, (surprise, goes_on), reverse=True)
    return found


def _values(params: Any, rows: Any) -> Any:  # noqa: ANN401
    """Return what the critic thinks of observations."""
    return apply_mlp(params["critic"], rows, jnp, "tanh")[:, 0]


def _normalised(rows: Any, mean: Any, scale: Any, xp: Any) -> Any:  # noqa: ANN401
    """Return observations in units of what was seen so far."""
    return xp.clip((rows - mean) * scale, -10, 10)


def _scale(seen: Seen) -> Any:  # noqa: ANN401
    return 1 / jnp.sqrt(seen.variance + 1e-8)


def _more_seen(seen: Seen, rows: Any) -> Seen:  # noqa: ANN401
    """Return what observations were like, these included."""
    count, mean, variance = len(rows), rows.mean(axis=0), rows.var(axis=0)
    total = seen.count + count
    away = mean - seen.mean
    spread = seen.variance * seen.count + variance * count
    spread = spread + away**2 * seen.count * count / total
    return Seen(total, seen.mean + away * count / total, spread / total)
