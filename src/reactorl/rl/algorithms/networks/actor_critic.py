# SPDX-License-Identifier: Apache-2.0
"""The networks of an actor and a critic, with separate or shared layers.

Separate: ``actor`` and ``critic`` are lists of layers, the last one is the head.
Shared: ``trunk`` is the list of layers, ``actor`` and ``critic`` have the head only.
With memory, the recurrent layer follows the layers of the network, before the heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from reactorl.rl.algorithms._jax import jax, jnp
from reactorl.rl.algorithms.networks.choice import choose_network
from reactorl.rl.algorithms.networks.layers import apply_layer, make_layer
from reactorl.rl.algorithms.networks.recurrent import recurrent_layer
from reactorl.rl.flow.encoding import network_input

if TYPE_CHECKING:
    from types import ModuleType

    from reactorl.rl.algorithms.networks.custom import NetworkFunction
    from reactorl.rl.algorithms.networks.mlp import Activation
    from reactorl.rl.algorithms.networks.network import Network
    from reactorl.rl.algorithms.networks.recurrent import (
        Memory,
        Recurrence,
        RecurrentLayer,
    )
    from reactorl.rl.flow.algorithm import Batch, Random

HEADS = {"actor": 0.01, "critic": 1.0}
"""Gain of each head's initialization: initial policies are almost uniform."""


@dataclass(frozen=True)
class ActorCriticNetwork:
    """Both networks; without state, and hashable.

    Attributes:
        network: The layers before the recurrent layer or the heads.
        shared: Whether actor and critic share all layers but the heads.
        recurrent: The recurrent layer, if there is one.
    """

    network: Network
    shared: bool
    recurrent: RecurrentLayer | None

    @property
    def parts(self) -> tuple[str, ...]:
        """Keys of the parameters that have layers before a head."""
        return ("trunk",) if self.shared else ("actor", "critic")

    @property
    def acting(self) -> tuple[str, ...]:
        """Keys of the parameters that acting needs."""
        if self.shared:
            return ("trunk", "actor")
        # The critic's memory is carried through trajectories as well.
        return ("actor",) if self.recurrent is None else ("actor", "critic")

    def init(
        self, random: Random, shape: tuple[int, ...], outputs: int
    ) -> dict[str, Any]:
        """Return new parameters.

        Args:
            random: Source of all randomness.
            shape: Of one observation.
            outputs: Of the actor.
        """
        size = self.network.size(shape)
        features = size if self.recurrent is None else self.recurrent.size
        counts = {"actor": outputs, "critic": 1}

        def layers() -> list[Any]:
            found = self.network.init(random, shape)
            if self.recurrent is not None:
                found = [*found, self.recurrent.init(random, size)]
            return found

        params: dict[str, Any] = {"trunk": layers()} if self.shared else {}
        for head, gain in HEADS.items():
            own = [] if self.shared else layers()
            params[head] = [*own, make_layer(random, features, counts[head], gain)]
        return params

    def initial_memory(self, count: int) -> Batch | None:
        """Return the memory at the start of an episode, None if there is none."""
        if self.recurrent is None:
            return None
        return {
            f"{part}.{name}": rows
            for part in self.parts
            for name, rows in self.recurrent.initial(count).items()
        }

    # -- acting -----------------------------------------------------------------------

    def act(
        self,
        params: Any,  # noqa: ANN401
        rows: Any,  # noqa: ANN401
        memory: Batch | None,
        xp: ModuleType,
    ) -> tuple[Any, dict[str, Any] | None]:
        """Return the actor's outputs for one step, and the memory after it.

        Args:
            params: At least those of ``acting``.
            rows: Observations ``[row, *shape]``, floats or bytes.
            memory: Before the step, with one row each.
            xp: ``numpy`` or ``jax.numpy``.
        """
        if self.recurrent is None:
            features = self._network(params, self.parts[0], rows, xp)
            return apply_layer(params["actor"][-1], features, xp), None
        assert memory is not None
        after: dict[str, Any] = {}
        for part in self.parts:
            found = self._step(params, part, rows, _own(memory, part), xp)
            after |= {f"{part}.{name}": value for name, value in found.items()}
        features = after[f"{self.parts[0]}.h"]
        return apply_layer(params["actor"][-1], features, xp), after

    # -- learning ---------------------------------------------------------------------

    def outputs_and_values(self, params: Any, rows: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return the actor's outputs and the values of rows, without memory."""
        found = {part: self._network(params, part, rows, jnp) for part in self.parts}
        return self._heads(params, found)

    def values(self, params: Any, rows: Any, chunks: int = 1) -> Any:  # noqa: ANN401
        """Return the values of rows, without memory; see ``sequence`` for chunks."""
        features = self._network(params, self.parts[-1], rows, jnp, chunks)
        return apply_layer(params["critic"][-1], features, jnp)[:, 0]

    def sequence(
        self,
        params: Any,  # noqa: ANN401
        rows: Any,  # noqa: ANN401
        memory: Batch,
        starts: Any,  # noqa: ANN401
        chunks: int = 1,
    ) -> tuple[Any, Any, Batch]:
        """Return outputs, values, and the memory after each step of sequences.

        Args:
            params: All.
            rows: Observations ``[step, environment, *shape]``.
            memory: Before the first step, ``[environment, ...]``.
            starts: Whether a step is the first one of an episode.
            chunks: How many parts of the rows go through the network one after the
                other, to save memory; must divide their number.
        """
        assert self.recurrent is not None
        shape = rows.shape[:2]
        flat = rows.reshape(-1, *rows.shape[2:])
        found: dict[str, Any] = {}
        after: dict[str, Any] = {}
        for part in self.parts:
            features = self._network(params, part, flat, jnp, chunks)
            features = features.reshape(*shape, -1)
            layer = self._layers(params, part)[-1]
            each = self.recurrent.unroll(layer, features, _own(memory, part), starts)
            after |= {f"{part}.{name}": value for name, value in each.items()}
            found[part] = each["h"].reshape(-1, self.recurrent.size)
        outputs, values = self._heads(params, found)
        return outputs.reshape(*shape, -1), values.reshape(shape), after

    def next_values(
        self,
        params: Any,  # noqa: ANN401
        rows: Any,  # noqa: ANN401
        memory: Batch,
        chunks: int = 1,
    ) -> Any:  # noqa: ANN401
        """Return the values of the observations that steps led to.

        Args:
            params: All.
            rows: Next observations ``[step, environment, *shape]``.
            memory: After each step.
            chunks: See ``sequence``.
        """
        shape, part = rows.shape[:2], self.parts[-1]
        flat = rows.reshape(-1, *rows.shape[2:])
        own = {n: v.reshape(-1, v.shape[-1]) for n, v in _own(memory, part).items()}
        after = self._step(params, part, flat, own, jnp, chunks)
        return apply_layer(params["critic"][-1], after["h"], jnp).reshape(shape)

    def _heads(self, params: Any, found: dict[str, Any]) -> tuple[Any, Any]:  # noqa: ANN401
        first, last = self.parts[0], self.parts[-1]
        outputs = apply_layer(params["actor"][-1], found[first], jnp)
        return outputs, apply_layer(params["critic"][-1], found[last], jnp)[:, 0]

    def _layers(self, params: Any, part: str) -> list[Any]:  # noqa: ANN401
        """Return the layers of a part, without a head."""
        found: list[Any] = params[part] if self.shared else params[part][:-1]
        return found

    def _network(
        self,
        params: Any,  # noqa: ANN401
        part: str,
        rows: Any,  # noqa: ANN401
        xp: ModuleType,
        chunks: int = 1,
    ) -> Any:  # noqa: ANN401
        layers = self._layers(params, part)
        own = layers if self.recurrent is None else layers[:-1]
        if chunks == 1:
            return self.network.apply(own, network_input({}, rows, xp), xp)
        found = jax.lax.map(
            lambda some: self.network.apply(own, network_input({}, some, xp), xp),
            rows.reshape(chunks, -1, *rows.shape[1:]),
        )
        return found.reshape(len(rows), -1)

    def _step(
        self,
        params: Any,  # noqa: ANN401
        part: str,
        rows: Any,  # noqa: ANN401
        memory: Memory,
        xp: ModuleType,
        chunks: int = 1,
    ) -> Memory:
        assert self.recurrent is not None
        features = self._network(params, part, rows, xp, chunks)
        layer = self._layers(params, part)[-1]
        projected = self.recurrent.project(layer, features, xp)
        return self.recurrent.step(layer, projected, memory, xp)


def _own(memory: Batch, part: str) -> Memory:
    """Return the memory of one part."""
    start = f"{part}."
    return {n.removeprefix(start): v for n, v in memory.items() if n.startswith(start)}


@cache
def actor_critic_network(
    network: str | NetworkFunction,
    shape: tuple[int, ...],
    hidden: tuple[int, ...],
    activation: Activation,
    shared_trunk: bool | None,  # noqa: FBT001
    recurrent: Recurrence,
    recurrent_size: int,
) -> ActorCriticNetwork:
    """Return the networks for observations of a shape.

    Args:
        network: See ``choose_network``.
        shape: Of one observation.
        hidden: Sizes of the hidden layers of an MLP.
        activation: Of an MLP.
        shared_trunk: Whether actor and critic share layers; None: CNNs and recurrent
            networks do.
        recurrent: Kind of the recurrent layer.
        recurrent_size: Its size.
    """
    chosen = choose_network(network, shape, hidden, activation)
    layer = recurrent_layer(recurrent, recurrent_size)
    if shared_trunk is None:
        shared_trunk = chosen.compiled or layer is not None
    return ActorCriticNetwork(chosen, shared_trunk, layer)


def episode_starts(terminations: Any, truncations: Any) -> Any:  # noqa: ANN401
    """Return which steps ``[step, environment]`` follow the end of an episode.

    Not the first one: its memory is what the rollout had, zero in a new episode.
    """
    ended = terminations | truncations
    return jnp.concatenate([jnp.zeros_like(ended[:1]), ended[:-1]])
