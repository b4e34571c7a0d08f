# SPDX-License-Identifier: Apache-2.0
"""Actions of any space from arrays.

Algorithms return *encoded* actions, and trajectories hold these:

* ``Discrete`` and ``MultiDiscrete``: indices from 0, whatever the start of the space.
* ``Box`` and ``MultiBinary``: the array, of any dtype.
* ``Dict`` and ``Tuple``: one row of numbers, the parts in the order of the space, each
  flattened.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.flow.algorithm import Array


class ActionDecoder:
    """Converts encoded actions to actions of the space, for environments.

    Spaces of other kinds get actions as the algorithm returned them.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self._space = space
        self._is_nested = isinstance(space, spaces.Dict | spaces.Tuple)
        self._is_scalar = isinstance(space, spaces.Box) and space.shape == ()

    def batch(self, actions: Array) -> Any:  # noqa: ANN401
        """Return one action for each row, in an array or a list."""
        if self._is_scalar:  # iteration over an array would give numbers
            return [np.asarray(row) for row in _decoded(self._space, actions)]
        if not self._is_nested:
            return _decoded(self._space, actions)
        columns = _columns(self._space, actions, 0)[0]
        return [_row(columns, k) for k in range(len(actions))]


def _decoded(space: spaces.Space[Any], rows: Array) -> Array:
    """Return rows of one array space in its dtype and shape."""
    if isinstance(space, spaces.Discrete):
        return rows if space.start == 0 else rows + space.start
    if isinstance(space, spaces.MultiDiscrete):
        rows = rows.reshape(len(rows), *space.shape)
        if space.start.any():
            rows = rows + space.start
        return rows.astype(space.dtype, copy=False)
    if isinstance(space, spaces.MultiBinary):
        rows = rows.reshape(len(rows), *space.shape)
        return rows.astype(space.dtype, copy=False)
    if isinstance(space, spaces.Box) and rows.dtype != space.dtype:
        return _clipped(space, rows)
    return rows


def _clipped(space: spaces.Box, rows: Array) -> Array:
    """Return rows in the dtype of the space; another one may have rounded bounds."""
    found: Array = np.clip(rows.astype(space.dtype), space.low, space.high)
    return found


def _columns(space: spaces.Space[Any], rows: Array, place: int) -> tuple[Any, int]:
    """Return the parts of a nested space for all rows, and the next place in a row."""
    if isinstance(space, spaces.Dict):
        parts = {}
        for key, sub in space.items():
            parts[key], place = _columns(sub, rows, place)
        return parts, place
    if isinstance(space, spaces.Tuple):
        found = []
        for sub in space.spaces:
            part, place = _columns(sub, rows, place)
            found.append(part)
        return tuple(found), place
    size = prod(space.shape or ())
    mine = rows[:, place : place + size]
    if isinstance(space, spaces.Discrete):
        mine = mine[:, 0].astype(space.dtype)
    elif isinstance(space, spaces.Box):
        mine = _clipped(space, mine.reshape(len(mine), *space.shape))
    else:
        mine = mine.astype(np.int64)
    return _decoded(space, mine), place + size


def _row(columns: Any, index: int) -> Any:  # noqa: ANN401
    """Return the nested action of one row; its arrays are its own."""
    if isinstance(columns, dict):
        return {key: _row(part, index) for key, part in columns.items()}
    if isinstance(columns, tuple):
        return tuple(_row(part, index) for part in columns)
    found = columns[index]
    return np.array(found) if found.dtype.kind == "f" or found.ndim else found


def leaf_spaces(space: spaces.Space[Any]) -> list[spaces.Space[Any]]:
    """Return the parts of a space that are not nested, in its order."""
    if isinstance(space, spaces.Dict):
        return [leaf for sub in space.values() for leaf in leaf_spaces(sub)]
    if isinstance(space, spaces.Tuple):
        return [leaf for sub in space.spaces for leaf in leaf_spaces(sub)]
    return [space]


def check_actions(
    name: str,
    space: spaces.Space[Any],
    supported: Sequence[type[spaces.Space[Any]]],
    *,
    nested: bool = False,
) -> None:
    """Check that an algorithm supports an action space.

    Args:
        name: Of the algorithm.
        space: The action space.
        supported: Kinds of spaces.
        nested: Whether ``Dict`` and ``Tuple`` of these are supported.

    Raises:
        FlowError: It does not; the remedy names algorithms that do.
    """
    leaves = leaf_spaces(space) if nested else [space]
    names = [kind.__name__ for kind in supported]
    rule = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    if nested:
        rule += ", or a Dict or Tuple of these"
    for leaf in leaves:
        if not isinstance(leaf, tuple(supported)):
            msg = f"action space must be {rule} for {name}, got {space}"
            raise FlowError(msg, _alternative(space))
        if isinstance(leaf, spaces.Box) and leaf.dtype.kind != "f":
            msg = f"action space must be a Box of floats for {name}, got {space}"
            raise FlowError(msg, "Use a wrapper that converts the action space.")
    if not leaves:
        msg = f"action space must have at least one part for {name}, got {space}"
        raise FlowError(msg)


def _alternative(space: spaces.Space[Any]) -> str:
    """Return which algorithms support an action space."""
    if isinstance(space, spaces.Discrete):
        return "Use DQN or PPO for discrete actions."
    if isinstance(space, spaces.Box):
        return "Use PPO, SAC or TD3 for continuous actions."
    known = (spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)
    if all(isinstance(leaf, known) for leaf in leaf_spaces(space)):
        return "Use PPO or IMPALA for this action space."
    return "Use a wrapper that converts the action space."
