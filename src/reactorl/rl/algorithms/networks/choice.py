# SPDX-License-Identifier: Apache-2.0
"""The choice of a network, by name or by the shape of observations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from reactorl.rl.algorithms.networks.cnn import (
    A3C_CNN,
    NATURE_CNN,
    SMALL_CNN,
    ImpalaCNN,
)
from reactorl.rl.algorithms.networks.custom import CustomNetwork, find_function
from reactorl.rl.algorithms.networks.images import image_layout
from reactorl.rl.algorithms.networks.mlp import MLP
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from reactorl.rl.algorithms.networks.custom import NetworkFunction
    from reactorl.rl.algorithms.networks.mlp import Activation
    from reactorl.rl.algorithms.networks.network import Network

NETWORKS: Final = {
    "nature-cnn": NATURE_CNN,
    "a3c-cnn": A3C_CNN,
    "small-cnn": SMALL_CNN,
    "impala-cnn": ImpalaCNN(),
}
"""The convolutional networks, by name."""


def check_network(network: str | NetworkFunction) -> None:
    """Check a name; a function of the user is imported.

    Raises:
        FlowError: There is no such network.
    """
    if not isinstance(network, str):
        return
    if ":" in network:
        find_function(network)
    elif network not in ("auto", "mlp", *NETWORKS):
        known = ", ".join(("auto", "mlp", *NETWORKS))
        msg = f"network must be one of {known} or module:function, got {network!r}"
        raise FlowError(msg)


@cache
def choose_network(
    network: str | NetworkFunction,
    shape: tuple[int, ...],
    hidden: tuple[int, ...],
    activation: Activation,
) -> Network:
    """Return the network for observations of a shape.

    ``auto`` is a CNN for images: ``nature-cnn`` from 36x36 pixels on, ``small-cnn``
    from 5x5 on (with a channel axis). Everything else is flattened for an MLP.

    Args:
        network: Its name, or a function of the user.
        shape: Of one observation.
        hidden: Sizes of the hidden layers of an MLP.
        activation: Of an MLP.

    Raises:
        FlowError: There is no such network.
    """
    check_network(network)
    if not isinstance(network, str):
        return CustomNetwork(network)
    if ":" in network:
        return CustomNetwork(find_function(network))
    if network == "auto":
        network = _automatic(shape)
    return NETWORKS.get(network) or MLP(hidden, activation)


def _automatic(shape: tuple[int, ...]) -> str:
    layout = image_layout(shape)
    if layout is None:
        return "mlp"
    smaller = min(layout.height, layout.width)
    if smaller >= NATURE_CNN.smallest:
        return "nature-cnn"
    # A matrix of numbers is an image only if it is a large one.
    if smaller >= SMALL_CNN.smallest and len(shape) > 2:
        return "small-cnn"
    return "mlp"
