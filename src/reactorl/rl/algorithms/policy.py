# SPDX-License-Identifier: Apache-2.0
"""Policies of actor-critic algorithms: networks, and distributions over actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reactorl.rl.algorithms.distributions import constants_of, distribution, sizes_of
from reactorl.rl.flow.action_encoding import check_actions
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from reactorl.rl.algorithms.distributions import Distribution
    from reactorl.rl.flow.algorithm import Random, Spaces

_ACTIONS = (spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)


def check(name: str, spaces_: Spaces) -> None:
    """Check that there is a policy for these spaces.

    Args:
        name: Of the algorithm, for the error.
        spaces_: Of the environment, or of the agent.

    Raises:
        FlowError: There is none.
    """
    check_actions(name, spaces_.action, _ACTIONS, nested=True)
    Encoder(spaces_.observation).check_network(name)


def make(
    random: Random,
    spaces_: Spaces,
    init: Callable[[Random, tuple[int, ...], int], dict[str, Any]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return new networks, and the constants of the spaces.

    Args:
        random: Source of all randomness.
        spaces_: Of the environment, or of the agent.
        init: Returns ``actor`` and ``critic`` for the shape of the network's input and
            the number of the actor's outputs.

    Returns:
        Parameters: ``actor`` and ``critic``, and for continuous actions ``log_std``.
        Constants: ``observations`` for ``network_input``, ``actions`` for ``over``.
    """
    encoder = Encoder(spaces_.observation)
    constants = {
        "observations": encoder.one_hot,
        "actions": constants_of(spaces_.action),
    }
    outputs, deviations, _ = sizes_of(constants["actions"])
    params = init(random, encoder.input_shape, outputs)
    if deviations:
        params["log_std"] = np.zeros(deviations, np.float32)
    return params, constants


def over(
    constants: Any,  # noqa: ANN401
    outputs: Any,  # noqa: ANN401
    params: Any,  # noqa: ANN401
    mask: Any,  # noqa: ANN401
    xp: ModuleType,
) -> Distribution:
    """Return the distribution over actions for each row of the actor's outputs.

    Args:
        constants: Of the spaces.
        outputs: Of the actor.
        params: Parameters that include ``log_std`` for continuous actions.
        mask: Which actions are allowed, one row each; None: all.
        xp: ``numpy`` or ``jax.numpy``.
    """
    return distribution(constants["actions"], outputs, params.get("log_std"), mask, xp)
