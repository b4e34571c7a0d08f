# SPDX-License-Identifier: Apache-2.0
"""What PPO and IMPALA share: acting with an actor, and updates from trajectories."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reactorl.rl.algorithms import policy, pytree
from reactorl.rl.algorithms._jax import jax, jnp
from reactorl.rl.algorithms.native_policy import (
    NativePolicy,
    has_native_layers,
    is_unchanged,
)
from reactorl.rl.algorithms.networks.choice import choose_network
from reactorl.rl.algorithms.networks.compiled import CompiledRows
from reactorl.rl.algorithms.networks.options import NetworkOptions
from reactorl.rl.algorithms.normalization import (
    ReturnStatistics,
    RunningStatistics,
    normalized,
)
from reactorl.rl.algorithms.optimizer import adam
from reactorl.rl.flow.algorithm import ActOutput, require
from reactorl.rl.flow.encoding import Encoder, network_input
from reactorl.rl.flow.policy_memory import PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    import optax

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


_ACTING: Final = (
    "act",
    "act_greedy",
    "_distribution",
    "_outputs",
    "_forward",
    "_rows",
    "_policy_of",
    "_native",
)
"""Methods that a native policy stands for."""


@dataclass(frozen=True, kw_only=True)
class ActorCritic(NetworkOptions):
    """An on-policy algorithm with an actor and a critic; see ``policy``."""

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
    norm_obs: bool = False
    """Normalize observations by their running mean and variance, and clip them to
    10."""
    norm_reward: bool = False
    """Divide rewards by the running standard deviation of discounted returns, and clip
    them to 10; reward_scale is not used then."""

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.num_minibatches >= 1, self, "num_minibatches", "at least 1")

    def check_spaces(self, spaces_: Spaces) -> None:
        """Check that there is a policy for these spaces."""
        policy.check(self.name, spaces_)
        shape = Encoder(spaces_.observation).input_shape
        self.networks(shape).network.check(shape)

    def weights(self, state: State) -> Weights:
        """Return the actor, the constants of spaces, and what normalizes rows."""
        found = {**state.params, "constants": state.constants}
        if not self._critic_acts(found):
            del found["critic"]
        if self.norm_obs:
            statistics = state.statistics
            found |= {"mean": statistics.mean, "scale": statistics.scale}
        _ = self._compiled  # made once, before several threads need it
        return pytree.frozen(found)

    def _critic_acts(self, params: Any) -> bool:  # noqa: ANN401
        """Return whether the critic has a memory of its own, which rollouts carry."""
        return self.recurrent != "none" and "trunk" not in params

    # -- networks ---------------------------------------------------------------------

    def initial_memory(self, spaces_: Spaces, count: int) -> Batch | None:
        """Return the memory at the start of an episode."""
        shape = Encoder(spaces_.observation).input_shape
        return self.networks(shape).initial_memory(count)

    def _init(self, spaces_: Spaces, random: Random) -> dict[str, Any]:
        """Return what the states of all algorithms have in common."""
        made = policy.make(
            random, spaces_, lambda *args: self.networks(args[1]).init(*args)
        )
        params, constants = pytree.on_device(made)
        inputs = prod(Encoder(spaces_.observation).input_shape)
        return {
            "params": params,
            "constants": constants,
            "optimiser": self._optimiser.init(params),
            "statistics": RunningStatistics.initial(inputs) if self.norm_obs else None,
            "returns": ReturnStatistics.initial(self.num_envs)
            if self.norm_reward
            else None,
        }

    # -- acting -----------------------------------------------------------------------

    def act(
        self, weights: Weights, inputs: ActInput, random: Random, progress: float
    ) -> ActOutput:
        """Return sampled actions, their log-probabilities, and the progress."""
        memory = None
        encoded: Array
        logs: Any
        policy = self._policy_of(weights, inputs)
        if policy is not None:
            rows = self._rows(weights, inputs.observations, np)
            noise = policy.noise(random, len(rows))
            choices, encoded, logs = policy.act(rows, noise, inputs.action_mask)
        else:
            actions, memory = self._distribution(weights, inputs)
            choices = actions.sample(random)
            encoded, logs = actions.actions(choices), actions.log_probs(choices)
        extras = {
            "choices": choices,
            "log_probs": logs,
            "progress": np.full(len(choices), progress, np.float32),
        }
        return ActOutput(encoded, extras, memory)

    def act_greedy(self, weights: Weights, inputs: ActInput) -> ActOutput:
        """Return the most probable action."""
        policy = self._policy_of(weights, inputs)
        if policy is not None:
            rows = self._rows(weights, inputs.observations, np)
            return ActOutput(policy.act(rows, None, inputs.action_mask)[1])
        actions, memory = self._distribution(weights, inputs)
        return ActOutput(actions.actions(actions.greedy()), memory=memory)

    def native_policy(
        self, weights: Weights, shape: tuple[int, ...], progress: float
    ) -> NativePolicy | None:
        """Return the policy in native code, if it has an MLP without memory."""
        if not is_unchanged(self, ActorCritic, _ACTING):
            return None
        constants = weights["constants"]
        one_hot = constants["observations"]
        if "is_index" in one_hot:
            return None
        normal = (weights["mean"], weights["scale"]) if self.norm_obs else None
        return self._native(
            weights,
            shape,
            one_hot=one_hot,
            normal=normal,
            extras={"progress": progress},
        )

    def _policy_of(self, weights: Weights, inputs: ActInput) -> NativePolicy | None:
        """Return the policy in native code, for rows of inputs."""
        if inputs.memory is not None:
            return None
        rows, constants = inputs.observations, weights["constants"]
        one_hot = constants["observations"]
        shape = (len(one_hot["values"]),) if one_hot else rows.shape[1:]
        return self._native(weights, shape)

    def _native(
        self,
        weights: Weights,
        shape: tuple[int, ...],
        **options: Any,  # noqa: ANN401
    ) -> NativePolicy | None:
        networks = self.networks(shape)
        if networks.recurrent is not None or not has_native_layers(networks.network):
            return None
        constants = weights["constants"]["actions"]
        layers = [*weights.get("trunk", ()), *weights["actor"]]
        if "values" in constants:
            return NativePolicy("categorical", layers, self.activation, **options)
        if "low" not in constants:
            return None
        return NativePolicy(
            "normal",
            layers,
            self.activation,
            log_std=weights["log_std"],
            limits=constants,
            **options,
        )

    def _distribution(
        self, weights: Weights, inputs: ActInput
    ) -> tuple[Distribution, Batch | None]:
        """Return the distribution over actions, and the memory after the step."""
        outputs, memory = self._outputs(weights, inputs)
        constants, mask = weights["constants"], inputs.action_mask
        return policy.over(constants, outputs, weights, mask, np), memory

    def _outputs(
        self, weights: Weights, inputs: ActInput
    ) -> tuple[Array, Batch | None]:
        rows, memory = inputs.observations, inputs.memory
        shape = rows.shape[1:]
        if choose_network(self.network, shape, self.hidden, self.activation).compiled:
            found: tuple[Array, Batch | None] = self._compiled(weights, (rows, memory))
            return found
        return self._forward(weights, rows, memory, np)

    def _forward(
        self,
        weights: Weights,
        rows: Any,  # noqa: ANN401
        memory: Batch | None,
        xp: Any,  # noqa: ANN401
    ) -> tuple[Any, Batch | None]:
        rows = self._rows(weights, rows, xp)
        return self.networks(rows.shape[1:]).act(weights, rows, memory, xp)

    def _rows(self, weights: Weights, rows: Any, xp: Any) -> Any:  # noqa: ANN401
        normal = (weights["mean"], weights["scale"]) if self.norm_obs else None
        return _inputs(weights["constants"], rows, normal, xp)

    @cached_property
    def _compiled(self) -> CompiledRows:
        def forward(weights: Weights, inputs: Any) -> Any:  # noqa: ANN401
            rows, memory = inputs
            return self._forward(weights, rows, memory, jnp)

        return CompiledRows(forward)

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: State, batches: Sequence[Batch]
    ) -> tuple[State, Metrics, None]:
        """Learn from trajectories ``[step, env, ...]``, in one compiled call each."""
        metrics: Metrics = {}
        for batch in batches:
            wanted = ("observations", "next_observations", "choices", "log_probs")
            steps: dict[str, Any] = {name: batch[name] for name in wanted}
            if "action_masks" in batch:
                steps["action_masks"] = batch["action_masks"]
            steps["rewards"] = batch["rewards"].astype(np.float32)
            steps["terminations"] = batch["terminations"]
            steps["truncations"] = batch["truncations"]
            # Before the first step; later ones follow from it with newer weights.
            steps["memory"] = {
                name.removeprefix(PREFIX): column[0]
                for name, column in batch.items()
                if name.startswith(PREFIX)
            }
            steps |= self._drawn(state, steps["rewards"].shape)
            rate = np.float32(self.learning_rate_at(float(batch["progress"].flat[0])))
            state, found = self._learn(state, steps, rate)
            metrics = {f"losses/{name}": float(found[name]) for name in sorted(found)}
            metrics["charts/learning_rate"] = float(rate)
        return state, metrics, None

    def _prepared(self, state: State, steps: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        """Normalize the observations and rewards of trajectories.

        Returns:
            The trajectories, and the statistics of observations and of returns after
            them. Observations are normalized as rollouts did: those of this iteration
            count from the next one on.
        """
        steps, statistics, returns = dict(steps), state.statistics, state.returns
        shape = steps["rewards"].shape
        normal = None if statistics is None else (statistics.mean, statistics.scale)
        for name in ("observations", "next_observations"):
            rows = steps[name].reshape(shape[0] * shape[1], *steps[name].shape[2:])
            if name == "observations" and statistics is not None:
                raw = _inputs(state.constants, rows, None, jnp)
                raw = network_input({}, raw, jnp).reshape(len(rows), -1)
                statistics = statistics.updated(raw)
            rows = _inputs(state.constants, rows, normal, jnp)
            steps[name] = rows.reshape(*shape, *rows.shape[1:])
        if returns is not None:
            ended = steps["terminations"] | steps["truncations"]
            returns = returns.updated(steps["rewards"], ended, self.gamma)
            steps["rewards"] = returns.normalized(steps["rewards"])
        return steps, statistics, returns

    @property
    def _reward_factor(self) -> float:
        return 1.0 if self.norm_reward else self.reward_scale

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

    def _drawn(self, state: State, shape: tuple[int, ...]) -> dict[str, Array]:
        """Return random numbers of an iteration, which is compiled without them.

        Args:
            state: Before the iteration.
            shape: Steps and environments.
        """
        return {}

    @abstractmethod
    def _iteration(self, state: State, steps: Any, rate: Any) -> tuple[State, Any]:  # noqa: ANN401
        """Return the state after one iteration, and metrics; compiled by JAX."""

    @cached_property
    def _learn(self) -> Any:  # noqa: ANN401
        return jax.jit(self._iteration)

    @cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        # Without the learning rate: that depends on the progress of the training.
        return adam(None, eps=1e-5, max_grad_norm=self.max_grad_norm)

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


def _inputs(constants: Any, rows: Any, normal: Any, xp: Any) -> Any:  # noqa: ANN401
    """Return encoded observations as networks get them; images stay bytes.

    ``normal`` are mean and scale of observations; None: they are not normalized.
    """
    if normal is None:
        images = rows.dtype == np.uint8
        return rows if images else network_input(constants["observations"], rows, xp)
    rows = network_input(constants["observations"], rows, xp)
    mean, scale = normal
    return normalized(rows, mean, scale, xp)
