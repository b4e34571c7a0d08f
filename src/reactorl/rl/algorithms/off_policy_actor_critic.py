# SPDX-License-Identifier: Apache-2.0
"""What SAC and TD3 share: an actor, twin critics, target networks, bounded actions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reactorl.rl.algorithms import pytree
from reactorl.rl.algorithms._jax import jax, jnp
from reactorl.rl.algorithms.bounded_actions import (
    bounds,
    check_bounded,
    to_actions,
    to_choices,
)
from reactorl.rl.algorithms.networks.choice import choose_network
from reactorl.rl.algorithms.networks.mlp import apply_mlp, make_mlp
from reactorl.rl.algorithms.off_policy import OffPolicy
from reactorl.rl.flow.algorithm import ActOutput, require
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


@dataclass(frozen=True, kw_only=True)
class OffPolicyActorCritic(OffPolicy):
    """An off-policy algorithm with an actor and two critics, for bounded actions."""

    total_timesteps: int = 20_000
    """Total number of environment steps, rounded up to whole iterations of
    num_envs * num_steps steps."""
    num_envs: int = 8
    """Number of parallel environments."""
    num_steps: int = 2
    """Steps per environment in an iteration."""
    tau: float = 0.005
    """Fraction by which target networks move towards the online networks in an
    update of theirs."""
    buffer_size: int = 1_000_000
    """Capacity of the replay buffer, in transitions."""
    batch_size: int = 256
    """Transitions drawn from the replay buffer for an update."""
    learning_starts: int = 1_000
    """Environment steps before the first update; actions are uniform until then."""
    train_frequency: float = 1.0
    """Environment steps, of all environments together, for which there are
    gradient_steps updates."""
    gradient_steps: int = 1
    """Updates per train_frequency environment steps. An iteration has num_envs *
    num_steps * gradient_steps / train_frequency updates, rounded to the nearest
    integer, but at least 1."""
    noise_persistence: float = 0.0
    """Probability that an environment keeps the exploration noise of the step before,
    or the uniform action before learning_starts, instead of drawing another: it lasts
    for 1 / (1 - noise_persistence) steps on average. Above 0, exploration goes further,
    for environments in which it takes many steps in one direction to get anywhere."""
    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers, of the actor and of each critic. For images they
    follow the layers of a CNN, which each of the three has."""

    default_env = "Pendulum-v1"

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(0 < self.tau <= 1, self, "tau", "in (0, 1]")
        require(self.gradient_steps >= 1, self, "gradient_steps", "at least 1")
        require(0 <= self.noise_persistence < 1, self, "noise_persistence", "in [0, 1)")

    def check_spaces(self, spaces_: Spaces) -> None:
        """Check that actions are floats between finite bounds."""
        check_bounded(self.name, spaces_)
        Encoder(spaces_.observation).check_network(self.name)

    @property
    def updates_per_iteration(self) -> int:
        """Number of updates in an iteration."""
        updates = self.steps_per_iteration * self.gradient_steps / self.train_frequency
        return max(1, round(updates))

    # -- networks ---------------------------------------------------------------------

    def _networks(
        self, spaces_: Spaces, random: Random, outputs_per_action: int
    ) -> tuple[Any, list[Any], dict[str, Any], RunningStatistics | None]:
        """Return an actor, two critics, constants of both spaces, and statistics."""
        assert isinstance(spaces_.action, spaces.Box)
        encoder = Encoder(spaces_.observation)
        shape, trunk = encoder.input_shape, self._trunk(encoder.input_shape)
        actions = int(np.prod(spaces_.action.shape))

        def layers(more: int, outputs: int, gain: float) -> list[Any]:
            own = trunk.init(random, shape)
            sizes = (trunk.size(shape) + more, *self.hidden, outputs)
            return [*own, *make_mlp(random, sizes, last_scale=gain)]

        actor = layers(0, outputs_per_action * actions, 0.01)
        critics = [layers(actions, 1, 1.0) for _ in range(2)]
        limits = {**bounds(spaces_.action), "one_hot": encoder.one_hot}
        return actor, critics, limits, self._initial_statistics(shape)

    def _trunk(self, shape: tuple[int, ...]) -> Network:
        """Return the layers before the hidden ones; for vectors there are none."""
        return choose_network(self.network, shape, (), "relu")

    def _outputs(
        self,
        layers: Any,  # noqa: ANN401
        inputs: Any,  # noqa: ANN401
        xp: ModuleType,
        choices: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Return the outputs of an actor, or with choices those of a critic."""
        first = len(layers) - len(self.hidden) - 1
        trunk = self._trunk(inputs.shape[1:])
        features = trunk.apply(layers[:first], inputs, xp)
        if choices is not None:
            features = xp.concatenate([features, choices], axis=1)
        return apply_mlp(layers[first:], features, xp)

    def _q_values(self, critics: Any, inputs: Any, choices: Any) -> list[Any]:  # noqa: ANN401
        """Return the values of each critic for each observation and choice."""
        return [self._outputs(c, inputs, jnp, choices)[:, 0] for c in critics]

    def weights(self, state: State) -> Weights:
        """Return the actor, the bounds of actions, and what normalizes observations."""
        found = {"actor": state.actor, "limits": state.limits}
        return pytree.frozen(found | self._normal(state))

    def _one_hot(self, owner: State | Weights) -> Any:  # noqa: ANN401
        limits = owner["limits"] if isinstance(owner, dict) else owner.limits
        return limits["one_hot"]

    def _read(self, weights: Weights, inputs: Any, xp: ModuleType) -> Any:  # noqa: ANN401
        return self._outputs(weights["actor"], inputs, xp)

    # -- acting -----------------------------------------------------------------------

    def act(
        self, weights: Weights, inputs: ActInput, random: Random, progress: float
    ) -> ActOutput:
        """Return actions with exploration; before ``learning_starts`` uniform ones."""
        limits, observations = weights["limits"], inputs.observations
        uniform = self._steps_at(progress) < self.learning_starts
        shape = (len(observations), limits["low"].size)
        if uniform:
            noise = random.random(shape, np.float32) * 2 - 1
        else:
            noise = random.standard_normal(shape, np.float32)
        memory = inputs.memory
        if memory is not None:
            kept = random.random(len(noise)) < self.noise_persistence
            kept &= memory["has_noise"]
            noise = np.where(kept[:, None], memory["noise"], noise)
            memory = {"noise": noise, "has_noise": np.ones_like(kept)}
        choices = noise
        if not uniform:
            choices = self._explore(self._acting(weights, observations), noise)
        return ActOutput(to_actions(choices, limits), memory=memory)

    def initial_memory(self, spaces: Spaces, count: int) -> Batch | None:
        """Return the noise of rollouts at the start of an episode: none yet."""
        if self.noise_persistence == 0:
            return None
        assert spaces.action.shape is not None
        shape = (count, int(np.prod(spaces.action.shape)))
        return {
            "noise": np.zeros(shape, np.float32),
            "has_noise": np.zeros(count, bool),
        }

    def act_greedy(self, weights: Weights, inputs: ActInput) -> ActOutput:
        """Return the actor's actions without exploration."""
        choices = self._greedy(self._acting(weights, inputs.observations))
        actions = to_actions(choices, weights["limits"])
        return ActOutput(actions, memory=inputs.memory)

    def _steps_at(self, progress: float) -> int:
        """Return the environment steps before an iteration, from its progress."""
        return round(progress * self.iterations) * self.steps_per_iteration

    @abstractmethod
    def _explore(self, outputs: Array, noise: Array) -> Array:
        """Return choices of an actor's outputs, with standard normal noise."""

    @abstractmethod
    def _greedy(self, outputs: Array) -> Array:
        """Return choices of an actor's outputs, without exploration."""

    # -- learning ---------------------------------------------------------------------

    def update(
        self, state: State, batches: Sequence[Batch]
    ) -> tuple[State, Metrics, None]:
        """Learn from batches, one after the other, in one compiled call."""
        state, found = self._learned(state, batches)
        means = {f"losses/{name}": float(np.mean(found[name])) for name in found}
        return state, means, None

    def _columns(self, batch: Batch) -> dict[str, Array]:
        """Return what an update needs of a batch."""
        non_terminal = 1.0 - batch["terminations"].astype(np.float32)
        discounts = batch.get("discounts", np.float32(self.gamma))
        return {
            "observations": batch["observations"],
            "actions": batch["actions"].astype(np.float32),
            "rewards": batch["rewards"].astype(np.float32),
            "next_observations": batch["next_observations"],
            # Bootstrap through truncation, not through termination.
            "discounts": discounts.astype(np.float32) * non_terminal,
        }

    def _critic_gradients(
        self,
        state: State,
        inputs: Any,  # noqa: ANN401
        batch: Any,  # noqa: ANN401
        next_values: Any,  # noqa: ANN401
    ) -> tuple[Any, Any]:
        """Return the gradients of both critics, and metrics.

        Args:
            state: With the critics.
            inputs: The observations, as networks read them.
            batch: The transitions.
            next_values: Values of the next observations.
        """
        choices = to_choices(batch["actions"], state.limits)
        targets = batch["rewards"] + batch["discounts"] * next_values

        def loss(critics: Any) -> tuple[Any, Any]:  # noqa: ANN401
            values = self._q_values(critics, inputs, choices)
            found = sum(jnp.mean((value - targets) ** 2) for value in values)
            mean = (jnp.mean(values[0]) + jnp.mean(values[1])) / 2
            return found, {"qf_loss": found / 2, "qf_values": mean}

        found: tuple[Any, Any] = jax.grad(loss, has_aux=True)(state.critics)
        return found

    def _towards(self, online: Any, target: Any) -> Any:  # noqa: ANN401
        """Return target networks, moved by ``tau`` towards the online networks."""
        return jax.tree.map(lambda o, t: t + self.tau * (o - t), online, target)


def key_of(state: State) -> Any:  # noqa: ANN401
    """Return the key of an update's random numbers, another one in each update."""
    key = jax.random.wrap_key_data(state.key, impl="threefry2x32")
    return jax.random.fold_in(key, state.updates)
