# SPDX-License-Identifier: Apache-2.0
"""Observations of any space as arrays, for networks and tables.

Arrays and numbers stay as they are. Tuples and dicts become one row of numbers: their
parts in the order of the space, flattened and concatenated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.rl.flow.algorithm import Array

_ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


class Encoder:
    """Converts observations of a space into arrays.

    Raises:
        FlowError: A part of the space is not numeric.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space
        self._parts = _parts(space, lambda value: value)
        self.is_plain = isinstance(space, _ARRAYS)

    def batch(self, observations: Any) -> Array:  # noqa: ANN401
        """Return the observations of a vector environment as an array."""
        if self.is_plain:
            return observations  # type: ignore[no-any-return]
        columns = [np.asarray(find(observations)) for find, _ in self._parts]
        flat = [c.reshape(len(c), -1).astype(np.float32) for c in columns]
        return np.concatenate(flat, axis=1)

    def one(self, observation: Any) -> Array:  # noqa: ANN401
        """Return a single observation as a row."""
        if self.is_plain:
            return np.asarray(observation)
        parts = [np.asarray(find(observation)) for find, _ in self._parts]
        return np.concatenate([part.reshape(-1).astype(np.float32) for part in parts])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a row."""
        if self.is_plain:
            assert self.space.shape is not None
            return self.space.shape
        return (sum(int(np.prod(part.shape or ())) for _, part in self._parts),)

    @property
    def counts(self) -> tuple[int, ...] | None:
        """Number of values of each component, from 0; None: not a finite space."""
        found: list[int] = []
        for _, part in self._parts:
            if isinstance(part, spaces.Discrete) and part.start == 0:
                found.append(int(part.n))
            elif isinstance(part, spaces.MultiDiscrete) and not part.start.any():
                found.extend(int(n) for n in part.nvec.reshape(-1))
            else:
                return None
        return tuple(found)


def _parts(
    space: spaces.Space[Any], find: Callable[[Any], Any]
) -> list[tuple[Callable[[Any], Any], spaces.Space[Any]]]:
    """Return the numeric parts of a space, and a function that selects each."""
    if isinstance(space, _ARRAYS):
        return [(find, space)]
    keys: list[tuple[Any, spaces.Space[Any]]]
    if isinstance(space, spaces.Dict):
        keys = list(space.items())
    elif isinstance(space, spaces.Tuple):
        keys = list(enumerate(space.spaces))
    else:
        msg = f"observation space must be numeric, got {space}"
        raise FlowError(msg, "Use a wrapper that converts observations to numbers.")
    return [part for key, sub in keys for part in _parts(sub, _inside(find, key))]


def _inside(find: Callable[[Any], Any], key: object) -> Callable[[Any], Any]:
    return lambda value: find(value)[key]
