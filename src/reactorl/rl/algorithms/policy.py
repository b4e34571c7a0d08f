# SPDX-License-Identifier: Apache-2.0
"""Policies over discrete and continuous actions, as functions of network outputs.

For a ``Discrete`` space the outputs are logits. For a ``Box`` they are the means of a
normal distribution with a learned, state-independent standard deviation, in units in
which the bounds of the space are -1 and 1.

A *choice* is what was sampled: the index of an action, or numbers before they are
clipped to the bounds. Log-probabilities are of choices; environments get actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reactorl.rl.flow.algorithm import FlowError
from reactorl.rl.flow.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from reactorl.rl.flow.algorithm import Array, Random, Spaces

_LOG_2_PI = float(np.log(2 * np.pi))


def check(name: str, spaces_: Spaces) -> None:
    """Check that there is a policy for these spaces.

    Raises:
        FlowError: Actions are neither discrete nor floats, or observations are not
            numeric.
    """
    action = spaces_.action
    if not isinstance(action, spaces.Discrete | spaces.Box):
        msg = f"action space must be Discrete or Box for {name}, got {action}"
        raise FlowError(msg, "Use a wrapper that converts the action space.")
    if isinstance(action, spaces.Box) and not np.issubdtype(action.dtype, np.floating):
        msg = f"action space must be a Box of floats for {name}, got {action}"
        raise FlowError(msg, "Use a wrapper that converts the action space.")
    Encoder(spaces_.observation)


def make(
    random: Random,
    spaces_: Spaces,
    init: Callable[[Random, tuple[int, ...], int], dict[str, Any]],
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return new networks, and the bounds of actions.

    Args:
        random: Source of all randomness.
        spaces_: Of the environment, or of the agent.
        init: Returns ``actor`` and ``critic`` for the shape of an observation and the
            number of the actor's outputs.

    Returns:
        Parameters: ``actor`` and ``critic``, and for continuous actions ``log_std``.
        Constants: the bounds of the action space.
    """
    action = spaces_.action
    if isinstance(action, spaces.Discrete):
        outputs, limits = int(action.n), {"start": np.asarray(action.start, np.int32)}
    else:
        assert isinstance(action, spaces.Box)
        outputs, limits = int(np.prod(action.shape)), _limits(action)
    params = init(random, Encoder(spaces_.observation).shape, outputs)
    if isinstance(action, spaces.Box):
        params["log_std"] = np.zeros(outputs, np.float32)
    return params, limits


def _limits(space: spaces.Box) -> dict[str, Array]:
    low, high = space.low.astype(np.float32), space.high.astype(np.float32)
    bounded = np.isfinite(low) & np.isfinite(high)
    one, zero = np.float32(1), np.float32(0)
    # An unbounded dimension has no scale: its numbers are used as they are.
    near, far = np.where(bounded, low, -one), np.where(bounded, high, one)
    return {
        "low": low,
        "high": high,
        "middle": np.where(bounded, (near + far) / 2, zero),
        "half": np.where(bounded, (far - near) / 2, one),
    }


def sample(outputs: Array, log_std: Array | None, random: Random) -> Array:
    """Return a sampled choice for each row of outputs."""
    if log_std is not None:
        noise = random.standard_normal(outputs.shape, np.float32)
        drawn: Array = outputs + np.exp(log_std) * noise
        return drawn
    # The Gumbel-max trick: argmax(logits + noise) samples from the softmax.
    best: Array = np.argmax(outputs + random.gumbel(size=outputs.shape), axis=1)
    return best


def greedy(outputs: Array, log_std: Array | None) -> Array:
    """Return the most probable choice for each row of outputs."""
    if log_std is not None:
        return outputs
    best: Array = np.argmax(outputs, axis=1)
    return best


def actions(choices: Array, limits: dict[str, Array]) -> Array:
    """Return the actions for environments."""
    if "start" in limits:
        return choices + limits["start"]
    low = limits["low"]
    scaled = choices.reshape(len(choices), *low.shape) * limits["half"]
    found: Array = np.clip(scaled + limits["middle"], low, limits["high"])
    return found


def log_probs(
    outputs: Any,  # noqa: ANN401
    log_std: Any,  # noqa: ANN401
    choices: Any,  # noqa: ANN401
    xp: ModuleType,
) -> Any:  # noqa: ANN401
    """Return the log-probability of each choice; ``xp`` is NumPy or ``jax.numpy``."""
    if log_std is not None:
        deviation = (choices - outputs) * xp.exp(-log_std)
        return xp.sum(-0.5 * (deviation * deviation + _LOG_2_PI) - log_std, axis=1)
    chosen = xp.take_along_axis(_log_softmax(outputs, xp), choices[:, None], axis=1)
    return chosen[:, 0]


def entropies(outputs: Any, log_std: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    """Return the entropy of the policy for each row of outputs."""
    if log_std is not None:
        return xp.broadcast_to(
            xp.sum(log_std + 0.5 * (_LOG_2_PI + 1)), outputs.shape[:1]
        )
    logs = _log_softmax(outputs, xp)
    return -xp.sum(xp.exp(logs) * logs, axis=1)


def _log_softmax(outputs: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    outputs = outputs - xp.max(outputs, axis=1, keepdims=True)
    return outputs - xp.log(xp.sum(xp.exp(outputs), axis=1, keepdims=True))
