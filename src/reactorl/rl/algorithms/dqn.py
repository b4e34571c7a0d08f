# SPDX-License-Identifier: Apache-2.0
"""DQN: Q-learning with a network, a target network and a replay buffer.

Optionally double DQN, the Huber loss, and prioritized replay. Rollouts act
epsilon-greedily with a copy of the weights; the learner does all updates of an
iteration in one compiled call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces

from reactorl.rl._public import public
from reactorl.rl.algorithms import pytree
from reactorl.rl.algorithms._jax import jax, jnp, optax
from reactorl.rl.algorithms.epsilon_greedy import (
    best_actions,
    check_epsilon,
    epsilon,
    nth_allowed,
)
from reactorl.rl.algorithms.native_policy import (
    NativePolicy,
    has_native_layers,
    is_unchanged,
)
from reactorl.rl.algorithms.networks.choice import choose_network
from reactorl.rl.algorithms.networks.mlp import apply_mlp, make_mlp
from reactorl.rl.algorithms.off_policy import MEAN, SCALE, OffPolicy
from reactorl.rl.algorithms.optimizer import adam
from reactorl.rl.flow.action_encoding import check_actions
from reactorl.rl.flow.algorithm import ActOutput
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from reactorl.rl.algorithms.networks.network import Network
    from reactorl.rl.algorithms.normalization import RunningStatistics
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
    from reactorl.rl.flow.replay import ReplayConfig


class DQNState(NamedTuple):
    """State of the learner."""

    params: Any
    target: Any
    optimiser: Any
    updates: Any
    one_hot: Any
    """Constants of the observation space; see ``network_input``."""
    statistics: RunningStatistics | None
    """Of observations, if they are normalized."""


_ACTING: Final = (
    "act",
    "act_greedy",
    "_num_actions",
    "_acting",
    "_inputs",
    "_read",
    "_q_values",
    "_trunk",
)
"""Methods that a native policy stands for."""


@public
@dataclass(frozen=True, kw_only=True)
class DQN(OffPolicy):
    """DQN: Q-learning with a network, for discrete actions."""

    learning_rate: float = 2.3e-3
    """Learning rate of Adam."""
    anneal_lr: bool = True
    """Anneal the learning rate linearly to 0 over the training."""
    train_frequency: float = 2.0
    """Environment steps per update. An iteration has num_envs * num_steps /
    train_frequency updates, rounded to the nearest integer, but at least 1."""
    target_network_frequency: int = 256
    """Environment steps between two updates of the target network, rounded to whole
    updates of the online network, but at least 1."""
    start_e: float = 1.0
    """Initial epsilon."""
    end_e: float = 0.04
    """Final epsilon."""
    exploration_fraction: float = 0.16
    """Fraction of total_timesteps over which epsilon is annealed."""
    hidden: tuple[int, ...] = (128, 128)
    """Sizes of the hidden layers of an MLP."""
    double: bool = True
    """Use double DQN: the online network selects the next action, the target network
    evaluates it."""
    huber: bool = False
    """Use the Huber loss instead of the squared loss."""
    dueling: bool = False
    """Use a dueling network: Q is a value of the observation plus an advantage of each
    action, from two streams that each have the last hidden layer to themselves."""
    priority: float = 0.0
    """Prioritization exponent alpha of the replay buffer; 0: uniform sampling."""

    name = "DQN"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        check_epsilon(self)

    @property
    def target_interval(self) -> int:
        """Number of updates between two updates of the target network."""
        return max(1, round(self.target_network_frequency / self.train_frequency))

    @property
    def replay(self) -> ReplayConfig:
        """The replay buffer."""
        return replace(super().replay, priority=self.priority)

    def check_spaces(self, spaces_: Spaces) -> None:
        """Check that actions are discrete."""
        check_actions(self.name, spaces_.action, [spaces.Discrete])
        Encoder(spaces_.observation).check_network(self.name)

    # -- network ----------------------------------------------------------------------

    def init(self, spaces_: Spaces, seed: int) -> DQNState:
        """Return the state with a new network."""
        assert isinstance(spaces_.action, spaces.Discrete)
        encoder = Encoder(spaces_.observation)
        random = np.random.Generator(np.random.PCG64(seed))  # noqa: TID251
        params = self._network(random, encoder.input_shape, int(spaces_.action.n))
        params, one_hot = pytree.on_device((params, encoder.one_hot))
        optimiser = self._optimiser.init(params)
        updates = pytree.on_device(np.int32(0))
        statistics = self._initial_statistics(encoder.input_shape)
        return DQNState(params, params, optimiser, updates, one_hot, statistics)

    def _trunk(self, shape: tuple[int, ...]) -> Network:
        """Return the layers before the head, or before the streams of a dueling one."""
        hidden = self.hidden[:-1] if self.dueling else self.hidden
        return choose_network(self.network, shape, hidden, "relu")

    def _network(self, random: Random, shape: tuple[int, ...], actions: int) -> Any:  # noqa: ANN401
        """Return a new network: layers, or for a dueling one its trunk and streams."""
        trunk = self._trunk(shape)
        if not self.dueling:
            return trunk.init_with_head(random, shape, actions, 0.1)
        layers = trunk.init(random, shape)
        streams = (trunk.size(shape), *self.hidden[-1:])
        return {
            "trunk": layers,
            "value": make_mlp(random, (*streams, 1), last_scale=0.1),
            "advantage": make_mlp(random, (*streams, actions), last_scale=0.1),
        }

    def _q_values(self, params: Any, inputs: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        """Return the value of each action, for each row of ``network_input``."""
        trunk = self._trunk(inputs.shape[1:])
        if not self.dueling:
            return trunk.apply_with_head(params, inputs, xp)
        features = trunk.apply(params["trunk"], inputs, xp)
        advantages = apply_mlp(params["advantage"], features, xp)
        # Without the mean, value and advantages could shift against each other.
        advantages = advantages - advantages.mean(axis=1, keepdims=True)
        return apply_mlp(params["value"], features, xp) + advantages

    def weights(self, state: DQNState) -> Weights:
        """Return the network, without the target network."""
        found = {"network": state.params, "one_hot": state.one_hot}
        return pytree.frozen(found | self._normal(state))

    def _one_hot(self, owner: State | Weights) -> Any:  # noqa: ANN401
        return owner["one_hot"] if isinstance(owner, dict) else owner.one_hot

    def _read(self, weights: Weights, inputs: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        return self._q_values(weights["network"], inputs, xp)

    # -- acting -----------------------------------------------------------------------

    def act(
        self, weights: Weights, inputs: ActInput, random: Random, progress: float
    ) -> ActOutput:
        """Return the greedy action, or with probability epsilon a uniform one."""
        threshold = epsilon(self, progress)
        actions, mask = self.act_greedy(weights, inputs).actions, inputs.action_mask
        drawn = random.random(len(actions))
        # Below epsilon the number is uniform in [0, epsilon): it selects the action.
        explores = drawn < threshold
        if explores.any():
            count = self._num_actions(weights)
            if mask is not None:
                count = mask[explores].sum(axis=1)
            uniform = (drawn[explores] * (count / threshold)).astype(actions.dtype)
            uniform = np.minimum(uniform, count - 1)
            if mask is not None:
                uniform = nth_allowed(mask[explores], uniform)
            actions[explores] = uniform
        return ActOutput(actions)

    def _num_actions(self, weights: Weights) -> Any:  # noqa: ANN401
        network = weights["network"]
        last = network["advantage"] if self.dueling else network
        return len(last[-1]["b"])

    def act_greedy(self, weights: Weights, inputs: ActInput) -> ActOutput:
        """Return the allowed action with the largest Q-value."""
        values = self._acting(weights, inputs.observations)
        return ActOutput(best_actions(values, inputs.action_mask))

    def native_policy(
        self, weights: Weights, shape: tuple[int, ...], progress: float
    ) -> NativePolicy | None:
        """Return the policy in native code, if it has an MLP without streams."""
        trunk = self._trunk(shape)
        if self.dueling or not has_native_layers(trunk):
            return None
        one_hot = weights["one_hot"]
        if "is_index" in one_hot or not is_unchanged(self, DQN, _ACTING):
            return None
        return NativePolicy(
            "epsilon-greedy",
            list(weights["network"]),
            "relu",
            one_hot=one_hot,
            normal=(weights[MEAN], weights[SCALE]) if self.norm_obs else None,
            epsilon=epsilon(self, progress),
        )

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: DQNState, batches: Sequence[Batch]
    ) -> tuple[DQNState, Metrics, Sequence[Array]]:
        """Learn from batches, one after the other, in one compiled call."""
        state, found = self._learned(state, batches)
        losses, values, td_errors = (np.asarray(part) for part in found)
        metrics = {
            "losses/td_loss": float(losses.mean()),
            "losses/q_values": float(values.mean()),
        }
        if self.anneal_lr:
            metrics["charts/learning_rate"] = float(self._rate(state.updates))
        return state, metrics, list(td_errors)

    def _columns(self, batch: Batch) -> dict[str, Array]:
        """Return what the loss needs of a batch."""
        rewards = batch["rewards"].astype(np.float32)
        columns = {
            "observations": batch["observations"],
            "actions": batch["actions"],
            "rewards": rewards,
            "next_observations": batch["next_observations"],
            # Bootstrap through truncation, not through termination.
            "non_terminal": 1.0 - batch["terminations"].astype(np.float32),
            "importance": batch.get("importance", np.ones_like(rewards)),
        }
        if "discounts" in batch:  # of n-step returns
            columns["discounts"] = batch["discounts"].astype(np.float32)
        if "next_action_masks" in batch:
            columns["next_action_masks"] = batch["next_action_masks"]
        return columns

    @cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        return adam(self._rate if self.anneal_lr else self.learning_rate)

    @cached_property
    def _rate(self) -> Any:  # noqa: ANN401
        horizon = self.iterations * self.updates_per_iteration
        return optax.linear_schedule(self.learning_rate, 0.0, horizon)

    def _update(self, state: DQNState, batch: Any) -> tuple[DQNState, Any]:  # noqa: ANN401
        gradients, found = self._gradients_of(state, batch)
        return self._apply(state, gradients), found

    def _gradients_of(self, state: DQNState, batch: Any) -> tuple[Any, Any]:  # noqa: ANN401
        rows = {
            name: self._inputs(state, batch[name], jnp)
            for name in ("observations", "next_observations")
        }
        found: tuple[Any, Any] = jax.grad(self.loss, has_aux=True)(
            state.params, state.target, {**batch, **rows}
        )
        return found

    def _apply(self, state: DQNState, gradients: Any) -> DQNState:  # noqa: ANN401
        changes, optimiser = self._optimiser.update(
            gradients, state.optimiser, state.params
        )
        params = optax.apply_updates(state.params, changes)
        updates = state.updates + 1
        renew = updates % self.target_interval == 0
        target = jax.tree.map(
            lambda new, old: jnp.where(renew, new, old), params, state.target
        )
        return state._replace(
            params=params, target=target, optimiser=optimiser, updates=updates
        )

    def loss(self, params: Any, target: Any, batch: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return the loss of a batch, and as auxiliary values loss, Q and TD errors.

        Args:
            params: Of the online network.
            target: Of the target network.
            batch: Transitions, with observations as networks read them.
        """
        rows, next_rows = batch["observations"], batch["next_observations"]
        next_values = self._q_values(target, next_rows, jnp)
        chooser = next_values
        if self.double:
            chooser = self._q_values(params, next_rows, jnp)
        if "next_action_masks" in batch:
            chooser = jnp.where(batch["next_action_masks"], chooser, -jnp.inf)
        best = jnp.argmax(chooser, axis=1)
        next_value = jnp.take_along_axis(next_values, best[:, None], axis=1)[:, 0]
        discount = batch.get("discounts", self.gamma)
        targets = batch["rewards"] + discount * batch["non_terminal"] * next_value
        values = self._q_values(params, rows, jnp)
        q_values = jnp.take_along_axis(values, batch["actions"][:, None], axis=1)[:, 0]
        td_errors = q_values - jax.lax.stop_gradient(targets)
        measure = optax.losses.huber_loss if self.huber else optax.losses.l2_loss
        loss = jnp.mean(batch["importance"] * measure(td_errors))
        return loss, (loss, q_values, td_errors)

    # -- gradients and their application, for a parameter server ----------------------

    def gradients(self, state: DQNState, batch: Batch) -> tuple[Any, Metrics, Array]:
        """Return the gradients of one batch, metrics, and TD errors."""
        found, (loss, values, td_errors) = self._gradients(state, self._columns(batch))
        metrics = {
            "losses/td_loss": float(loss),
            "losses/q_values": float(np.asarray(values).mean()),
        }
        return pytree.frozen(found), metrics, np.asarray(td_errors)

    def apply(self, state: DQNState, gradients: Any) -> DQNState:  # noqa: ANN401
        """Return the state after one step of the optimizer."""
        found: DQNState = self._applied(state, gradients)
        return found

    @cached_property
    def _gradients(self) -> Any:  # noqa: ANN401
        return jax.jit(self._gradients_of)

    @cached_property
    def _applied(self) -> Any:  # noqa: ANN401
        return jax.jit(self._apply)
