# SPDX-License-Identifier: Apache-2.0
"""Observations of any space as arrays, for networks and tables.

Trajectories and replay buffers hold *encoded* observations, which are compact:

* ``Box``: the array; images (``uint8`` from 0 to 255) stay ``uint8``, all other dtypes
  become ``float32``.
* ``Discrete`` and ``MultiDiscrete``: indices from 0, whatever the start of the space.
* ``MultiBinary``: the array.
* ``Text``: the index of each character in the sorted character set, padded with its
  size.
* ``Dict`` and ``Tuple``: one row of numbers, the parts in the order of the space, each
  flattened; pixels of images are divided by 255.

``network_input`` converts them where a network reads them: pixels are divided by 255,
and every index becomes a one-hot vector. Tables are addressed by the indices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import spaces

from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from reactorl.rl.flow.algorithm import Array, Batch

MOST_INPUTS: Final = 100_000
"""Upper bound of the number of components of all one-hot vectors together."""
_PIXEL: Final = np.float32(1 / 255)
_INT32: Final = 2**31


class Encoder:
    """Encodes observations of a space.

    Raises:
        FlowError: The space has a part that is not one of those above.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space
        self._parts = _parts(space, lambda value: value)
        self._is_whole = not isinstance(space, spaces.Dict | spaces.Tuple)

    # -- encoded observations ---------------------------------------------------------

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of an encoded observation."""
        if self._is_whole:
            return self._parts[0].shape
        return (sum(prod(part.shape) for part in self._parts),)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of encoded observations."""
        if self._is_whole:
            return self._parts[0].dtype
        if self.counts is None:
            return np.dtype(np.float32)
        return np.result_type(np.int32, *(part.dtype for part in self._parts))

    def batch(self, observations: Any) -> Array:  # noqa: ANN401
        """Return the encoded observations of a vector environment, one row each."""
        if self._is_whole:
            return self._parts[0].batch(observations)
        columns = [part.batch(part.find(observations)) for part in self._parts]
        rows = [self._numbers(c).reshape(len(c), -1) for c in columns]
        return np.concatenate(rows, axis=1)

    def one(self, observation: Any) -> Array:  # noqa: ANN401
        """Return a single encoded observation."""
        if self._is_whole:
            return self._parts[0].one(observation)
        parts = [part.one(part.find(observation)) for part in self._parts]
        return np.concatenate([self._numbers(part).reshape(-1) for part in parts])

    def _numbers(self, part: Array) -> Array:
        found = part.astype(self.dtype)
        return found * _PIXEL if part.dtype == np.uint8 else found

    @property
    def counts(self) -> tuple[int, ...] | None:
        """Number of values of each component, for a table; None: not a finite space."""
        found: list[int] = []
        for part in self._parts:
            if isinstance(part.space, spaces.MultiBinary):
                found.extend([2] * prod(part.shape))
            elif part.counts:
                found.extend(part.counts)
            else:
                return None
        return tuple(found)

    # -- inputs of networks -----------------------------------------------------------

    @cached_property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of ``network_input`` for one observation."""
        if not any(part.counts for part in self._parts):
            return self.shape
        return (sum(sum(part.counts) or prod(part.shape) for part in self._parts),)

    @cached_property
    def one_hot(self) -> dict[str, Array]:
        """Constants for ``network_input``; empty if no component is an index."""
        if not any(part.counts for part in self._parts):
            return {}
        sources: list[Array] = []  # of each input: the component that it depends on
        values: list[Array] = []  # the index for which it is 1
        indices: list[Array] = []  # whether the component is an index
        place = 0
        for part in self._parts:
            size = prod(part.shape)
            repeats = np.array(part.counts or [1] * size)
            sources.append(np.repeat(np.arange(place, place + size), repeats))
            values += [np.arange(n) for n in repeats]
            indices.append(np.full(repeats.sum(), bool(part.counts)))
            place += size
        is_index = np.concatenate(indices)
        found: dict[str, Array] = {"values": np.concatenate(values).astype(self.dtype)}
        if place > 1:
            found["sources"] = np.concatenate(sources).astype(np.int32)
        if not is_index.all():
            found["is_index"] = is_index
        return found

    def check_network(self, name: str) -> None:
        """Check that a network can read the observations.

        Args:
            name: Of the algorithm, for the error.

        Raises:
            FlowError: There are too many inputs.
        """
        size = sum(sum(part.counts) for part in self._parts)
        if size > MOST_INPUTS:
            msg = (
                f"observation space must have at most {MOST_INPUTS} one-hot components "
                f"for {name}, got {size} for {self.space}"
            )
            remedy = (
                "Use Q-learning, or a wrapper that converts observations to a Box, "
                "for example to binary digits."
            )
            raise FlowError(msg, remedy)


def network_input(one_hot: Batch, rows: Any, xp: ModuleType) -> Any:  # noqa: ANN401
    """Return encoded observations as a network reads them, in ``float32``.

    Args:
        one_hot: Constants of the space: ``Encoder.one_hot``.
        rows: Encoded observations, one row each.
        xp: ``numpy`` or ``jax.numpy``.
    """
    if not one_hot:
        if rows.dtype == xp.float32:
            return rows
        scaled = rows.dtype == xp.uint8
        rows = rows.astype(xp.float32)
        return rows * _PIXEL if scaled else rows
    rows = rows.reshape(len(rows), -1)
    if "sources" in one_hot:
        rows = xp.take(rows, one_hot["sources"], axis=1)
    equal = (rows == one_hot["values"]).astype(xp.float32)
    if "is_index" in one_hot:
        equal = xp.where(one_hot["is_index"], equal, rows.astype(xp.float32))
    return equal


# -- parts of a space -----------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """A part of a space that is an array."""

    space: spaces.Space[Any]
    find: Callable[[Any], Any]
    """Selects the part of an observation."""

    @property
    def shape(self) -> tuple[int, ...]:
        if isinstance(self.space, spaces.Text):
            return (self.space.max_length,)
        return self.space.shape or ()

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of values of each index; empty: not indices."""
        space = self.space
        if isinstance(space, spaces.Discrete):
            return (int(space.n),)
        if isinstance(space, spaces.MultiDiscrete):
            return tuple(int(n) for n in space.nvec.reshape(-1))
        if isinstance(space, spaces.Text):
            return (len(space.character_set) + 1,) * space.max_length
        return ()

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        if self.counts:
            return np.dtype(np.int32 if max(self.counts) < _INT32 else np.int64)
        if isinstance(self.space, spaces.MultiBinary) or _is_image(self.space):
            assert self.space.dtype is not None
            return self.space.dtype
        return np.dtype(np.float32)

    @cached_property
    def start(self) -> Array | None:
        """The smallest value of each index; None: 0."""
        start = np.asarray(getattr(self.space, "start", 0))
        return start if start.any() else None

    @cached_property
    def _characters(self) -> dict[str, int]:
        assert isinstance(self.space, spaces.Text)
        return _character_indices(self.space)

    def batch(self, observations: Any) -> Array:  # noqa: ANN401
        if isinstance(self.space, spaces.Text):
            return np.stack([self.one(text) for text in observations])
        return self.one(observations)

    def one(self, observation: Any) -> Array:  # noqa: ANN401
        if isinstance(self.space, spaces.Text):
            indices = [self._characters[each] for each in observation]
            found = np.full(self.shape, len(self._characters), self.dtype)
            found[: len(indices)] = indices
            return found
        found = np.asarray(observation)
        if self.start is not None:
            found = found - self.start
        return found.astype(self.dtype, copy=False)


def _is_image(space: spaces.Space[Any]) -> bool:
    return (
        isinstance(space, spaces.Box)
        and space.dtype == np.uint8
        and bool((space.low == 0).all() and (space.high == 255).all())
    )


def _character_indices(space: spaces.Text) -> dict[str, int]:
    """Return the index of each character, in sorted order.

    The order of the space itself depends on the hash seed of the process.
    """
    return {character: k for k, character in enumerate(sorted(space.character_set))}


_ARRAYS = (
    spaces.Box,
    spaces.Discrete,
    spaces.MultiDiscrete,
    spaces.MultiBinary,
    spaces.Text,
)


def _parts(space: spaces.Space[Any], find: Callable[[Any], Any]) -> list[_Part]:
    """Return the parts of a space that are arrays, in order."""
    if isinstance(space, _ARRAYS):
        return [_Part(space, find)]
    keys: list[tuple[Any, spaces.Space[Any]]]
    if isinstance(space, spaces.Dict):
        keys = list(space.items())
    elif isinstance(space, spaces.Tuple):
        keys = list(enumerate(space.spaces))
    else:
        msg = (
            "observation space must be Box, Discrete, MultiDiscrete, MultiBinary or "
            f"Text, or a Dict or Tuple of these, got {space}"
        )
        remedy = "Use a wrapper that converts observations to one of them."
        raise FlowError(msg, remedy)
    return [part for key, sub in keys for part in _parts(sub, _inside(find, key))]


def _inside(find: Callable[[Any], Any], key: object) -> Callable[[Any], Any]:
    return lambda value: find(value)[key]
