# SPDX-License-Identifier: Apache-2.0
"""Actions of a bounded ``Box``, for policies whose outputs are between -1 and 1.

A *choice* is an action in these units, flattened to a row: -1 and 1 are the bounds of
the space. Critics and exploration noise use choices; environments get actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from reactorl.rl.flow.algorithm import Array, Spaces


def check_bounded(name: str, spaces_: Spaces) -> None:
    """Check that actions are floats between finite bounds.

    Raises:
        FlowError: They are not.
    """
    action = spaces_.action
    rule = f"action space must be a bounded Box of floats for {name}, got {action}"
    if not isinstance(action, spaces.Box):
        raise FlowError(rule, "Use DQN or PPO for discrete actions.")
    if not np.issubdtype(action.dtype, np.floating):
        raise FlowError(rule, "Use a wrapper that converts the action space.")
    if not action.is_bounded():
        remedy = "Use PPO, or gymnasium.wrappers.RescaleAction with finite bounds."
        raise FlowError(rule, remedy)


def bounds(space: spaces.Box) -> dict[str, Array]:
    """Return the bounds of a space as float32, rounded inwards."""
    low, high = space.low.astype(np.float32), space.high.astype(np.float32)
    one = np.float32(np.inf)
    return {
        "low": np.where(low < space.low, np.nextafter(low, one), low),
        "high": np.where(high > space.high, np.nextafter(high, -one), high),
    }


def to_actions(choices: Array, limits: dict[str, Array]) -> Array:
    """Return the actions for environments, within the bounds."""
    low, high = limits["low"], limits["high"]
    middle, half = _scale(limits)
    found = choices.reshape(len(choices), *low.shape) * half + middle
    clipped: Array = np.clip(found, low, high)
    return clipped


def to_choices(actions: Any, limits: Any) -> Any:  # noqa: ANN401
    """Return actions as rows of numbers from -1 to 1; also in JAX."""
    middle, half = _scale(limits)
    return ((actions - middle) / half).reshape(len(actions), -1)


def _scale(limits: Any) -> tuple[Any, Any]:  # noqa: ANN401
    low, high = limits["low"], limits["high"]
    # Half of each first: the difference of large bounds overflows.
    middle, half = high / 2 + low / 2, high / 2 - low / 2
    # Equal bounds leave one action: any divisor gives the choice 0.
    return middle, half + (half == 0)
