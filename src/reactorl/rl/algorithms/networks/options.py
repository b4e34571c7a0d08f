# SPDX-License-Identifier: Apache-2.0
"""The options of networks, as fields of an algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reactorl.rl.algorithms.networks.actor_critic import actor_critic_network
from reactorl.rl.algorithms.networks.choice import check_network
from reactorl.rl.algorithms.networks.custom import NetworkFunction, importable_name
from reactorl.rl.algorithms.networks.mlp import Activation  # noqa: TC001 - of a flag
from reactorl.rl.algorithms.networks.recurrent import (  # noqa: TC001 - of a flag
    Recurrence,
)
from reactorl.rl.flow.algorithm import Algorithm, require

if TYPE_CHECKING:
    from reactorl.rl.algorithms.networks.actor_critic import ActorCriticNetwork


@dataclass(frozen=True, kw_only=True)
class NetworkOption(Algorithm):
    """Which network reads observations; a flag of ``reactorl train``."""

    network: str | NetworkFunction = "auto"
    """Network between observations and outputs: auto (a CNN for images, else an MLP),
    mlp, nature-cnn, a3c-cnn (smaller, for CPUs), small-cnn (for grids), impala-cnn, or
    your own as module:function."""

    def __post_init__(self) -> None:
        if not isinstance(self.network, str):
            # By name if possible: the same run as one from the command line.
            name = importable_name(self.network)
            object.__setattr__(self, "network", name or self.network)
        super().__post_init__()

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        check_network(self.network)


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(NetworkOption):
    """Which networks an actor-critic has; flags of ``reactorl train``."""

    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers of an MLP, of actor and critic each."""
    activation: Activation = "tanh"
    """Activation of the hidden layers of an MLP."""
    shared_trunk: bool | None = None
    """Whether actor and critic share all layers but the last. None: CNNs, recurrent and
    custom networks are shared, MLPs are not."""
    recurrent: Recurrence = "none"
    """Recurrent layer after the network: it remembers what was observed in the
    episode. Minibatches are then trajectories of whole environments."""
    recurrent_size: int = 128
    """Size of the recurrent layer."""

    def check(self) -> None:
        """Check the hyper-parameters."""
        super().check()
        require(self.recurrent_size >= 1, self, "recurrent_size", "at least 1")
        require(self.activation in ("relu", "tanh"), self, "activation", "relu or tanh")
        known = ("none", "gru", "lstm")
        require(self.recurrent in known, self, "recurrent", "none, gru or lstm")

    def networks(self, shape: tuple[int, ...]) -> ActorCriticNetwork:
        """Return the networks for observations of a shape."""
        return actor_critic_network(
            self.network,
            shape,
            self.hidden,
            self.activation,
            self.shared_trunk,
            self.recurrent,
            self.recurrent_size,
        )
