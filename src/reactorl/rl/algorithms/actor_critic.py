# SPDX-License-Identifier: Apache-2.0
"""Policies: which actions the outputs of a network stand for, and how likely each is.

For a few actions there is an output each: the logarithm of a weight. For actions that
are arrays there is an output for each of their numbers: the mean of a normal
distribution, in units in which the bounds of the space are -1 and 1. Its width is
learned, too, and is the same for all observations.

A *choice* is what was drawn: the place of an action, or numbers before they are cut to
the bounds. Learning is about choices; environments get actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reactorl.rl.algorithms.mlp import make_mlp
from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from types import ModuleType

    from reactorl.rl.flow.algorithm import Array, Random, Spaces

_LOG_2_PI = float(np.log(2 * np.pi))


def check(name: str, spaces_: Spaces) -> None:
    """Refuse spaces that have no policy here.

    Raises:
        FlowError: Actions are neither a few nor arrays of real numbers, or observations
            are no numbers.
    """
    action = spaces_.action
    if not isinstance(action, spaces.Discrete | spaces.Box):
        msg = f"{name} chooses actions from Discrete or Box spaces, not from {action}"
        raise FlowError(msg, "Put a wrapper around the environment that has one.")
    if isinstance(action, spaces.Box) and not np.issubdtype(action.dtype, np.floating):
        msg = f"{name} chooses real numbers, and {action} wants others"
        raise FlowError(msg, "Use a Box of floats, or a Discrete space.")
    Encoder(spaces_.observation)


def make(
    random: Random, spaces_: Spaces, hidden: tuple[int, ...]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return networks that know nothing, and what the space says about actions.

    Returns:
        What is learned: ``actor`` and ``critic``, and for arrays ``log_std``. What is
        not: bounds of actions.
    """
    action = spaces_.action
    inputs = int(np.prod(Encoder(spaces_.observation).shape))
    if isinstance(action, spaces.Discrete):
        outputs, limits = int(action.n), {"start": np.asarray(action.start, np.int32)}
    else:
        assert isinstance(action, spaces.Box)
        outputs, limits = int(np.prod(action.shape)), _limits(action)
    params: dict[str, Any] = {
        "actor": make_mlp(random, (inputs, *hidden, outputs), last_scale=0.01),
        "critic": make_mlp(random, (inputs, *hidden, 1), last_scale=1.0),
    }
    if isinstance(action, spaces.Box):
        params["log_std"] = np.zeros(outputs, np.float32)
    return params, limits


def _limits(space: spaces.Box) -> dict[str, Array]:
    low, high = space.low.astype(np.float32), space.high.astype(np.float32)
    bounded = np.isfinite(low) & np.isfinite(high)
    one, zero = np.float32(1), np.float32(0)
    # Where a bound is missing there is nothing to measure by: numbers stay as they are.
    near, far = np.where(bounded, low, -one), np.where(bounded, high, one)
    return {
        "low": low,
        "high": high,
        "middle": np.where(bounded, (near + far) / 2, zero),
        "half": np.where(bounded, (far - near) / 2, one),
    }


def draw(outputs: Array, log_std: Array | None, random: Random) -> Array:
    """Return a choice for each row of outputs, at random."""
    if log_std is not None:
        noise = random.standard_normal(outputs.shape, np.float32)
        drawn: Array = outputs + np.exp(log_std) * noise
        return drawn
    # The largest sum with Gumbel's noise is distributed as the weights say.
    best: Array = np.argmax(outputs + random.gumbel(size=outputs.shape), axis=1)
    return best


def likeliest(outputs: Array, log_std: Array | None) -> Array:
    """Return the best choice for each row of outputs."""
    if log_std is not None:
        return outputs
    best: Array = np.argmax(outputs, axis=1)
    return best


def actions(choices: Array, limits: dict[str, Array]) -> Array:
    """Return what environments get."""
    if "start" in limits:
        return choices + limits["start"]
    low = limits["low"]
    spread = choices.reshape(len(choices), *low.shape) * limits["half"]
    found: Array = np.clip(spread + limits["middle"], low, limits["high"])
    return found


def log_probs(
    outputs: Any,  # noqa: ANN401
    log_std: Any,  # noqa: ANN401
    choices: Any,  # noqa: ANN401
    xp: ModuleType,
) -> Any:  # noqa: ANN401
    """Return the logarithm of how likely each choice is; ``xp`` is NumPy or JAX's."""
    if log_std is not None:
        away = (choices - outputs) * xp.exp(-log_std)
        return xp.sum(-0.5 * (away * away + _LOG_2_PI) - log_std, axis=1)
    chosen = xp.take_along_axis(_logs(outputs, xp), choices[:, None], axis=1)
    return chosen[:, 0]


def entropies(outputs: Any, log_std: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    """Return how undecided the policy is, for each row of outputs."""
    if log_std is not None:
        return xp.broadcast_to(
            xp.sum(log_std + 0.5 * (_LOG_2_PI + 1)), outputs.shape[:1]
        )
    logs = _logs(outputs, xp)
    return -xp.sum(xp.exp(logs) * logs, axis=1)


def _logs(outputs: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    """Return logarithms of chances."""
    outputs = outputs - xp.max(outputs, axis=1, keepdims=True)
    return outputs - xp.log(xp.sum(xp.exp(outputs), axis=1, keepdims=True))
