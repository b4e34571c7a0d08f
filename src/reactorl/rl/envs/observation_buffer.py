# SPDX-License-Identifier: Apache-2.0
"""Buffers for the observations of all sub-environments: one array per leaf space.

Each sub-environment writes its own row, on any thread, and nothing is gathered
afterwards. The result is that of ``gymnasium.vector.utils.concatenate``. Leaves without
an array form (graphs, texts, sequences, custom spaces) hold one object per
sub-environment, which that function concatenates.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import DTypeLike

    Space: TypeAlias = spaces.Space[Any]
    Array: TypeAlias = np.ndarray[Any, Any]
    Allocate: TypeAlias = Callable[[tuple[int, ...], DTypeLike], Array]
    Put: TypeAlias = Callable[[Any], None]
    Rows: TypeAlias = Array | tuple[Array, ...]

LARGEST: Final = 2**63 - 1


class SlotError(ValueError):
    """An observation does not fit its space; the text has what was expected."""


class Slots(Protocol):
    """Observations of all sub-environments, structured like their space."""

    def writer(self, index: int) -> Put:
        """Return a function that writes the observation of one sub-environment.

        It raises ``SlotError`` if the observation does not fit.
        """

    def rows(self, index: int) -> Rows | None:
        """Return views of the row of one sub-environment, if all of it is in arrays.

        That is an array, or a tuple of arrays, like the observation.
        """

    def batch(self) -> Any:  # noqa: ANN401
        """Return all observations, without copying arrays."""

    def copy(self) -> Any:  # noqa: ANN401
        """Return a copy of all observations."""

    def some(self, indices: Array) -> Any:  # noqa: ANN401
        """Return a copy of the observations of some sub-environments, in that order."""

    def objects(self, index: int) -> list[Any]:
        """Return the parts of a row that are not in arrays, leaf by leaf."""

    def put_objects(self, index: int, held: Iterator[Any]) -> None:
        """Restore the parts of a row that ``objects`` returned elsewhere."""

    def row(self, index: int) -> Any:  # noqa: ANN401
        """Return a copy of one row."""

    @property
    def is_whole(self) -> bool:
        """Whether an observation that does not fit leaves its row unchanged."""

    @property
    def is_array(self) -> bool:
        """Whether all observations are one array."""


def make_slots(space: Space, count: int, allocate: Allocate = np.zeros) -> Slots:
    """Make a buffer for observations of a space.

    Args:
        space: The space of a single environment.
        count: Number of sub-environments.
        allocate: Makes an array of zeros from a shape and a dtype.
    """
    if is_array_like(space):
        return _ArraySlots(space, count, allocate)
    kind = concatenate.dispatch(type(space))
    if kind is concatenate.dispatch(spaces.Dict):
        assert isinstance(space, spaces.Dict)
        return _DictSlots(
            {key: make_slots(sub, count, allocate) for key, sub in space.items()}
        )
    if kind is concatenate.dispatch(spaces.Tuple):
        assert isinstance(space, spaces.Tuple)
        return _TupleSlots([make_slots(sub, count, allocate) for sub in space.spaces])
    return _ObjectSlots(space, count)


def is_array_like(space: Space) -> bool:
    """Return whether a batch of a space's values is one array."""
    return concatenate.dispatch(type(space)) is concatenate.dispatch(spaces.Box)


class _ArraySlots:
    """Slots of one array."""

    def __init__(self, space: Space, count: int, allocate: Allocate) -> None:
        assert space.shape is not None
        assert space.dtype is not None
        self._array = allocate((count, *space.shape), space.dtype)

    def writer(self, index: int) -> Put:
        row = self._row(index)
        shape, dtype = tuple(row.shape), row.dtype
        copy_to, array_type = np.copyto, np.ndarray
        is_whole_number = not shape and dtype == np.int64

        def put(value: Any) -> None:  # noqa: ANN401
            if is_whole_number and type(value) is int and -LARGEST <= value <= LARGEST:
                row[()] = value  # no array in between, whose type threads would share
                return
            if type(value) is not array_type:
                value = np.asarray(value)
            # Takes a third of the time of copyto; nearly all observations are so.
            if value.dtype is dtype and value.shape == shape:
                row[...] = value
                return
            if value.shape != shape:
                msg = f"observation must have shape {shape}, got {value.shape}"
                raise SlotError(msg)
            try:
                copy_to(row, value)  # refuses casts of another kind, as stacking does
            except TypeError:
                msg = f"observation must have dtype {dtype}, got {value.dtype}"
                raise SlotError(msg) from None

        return put

    def _row(self, index: int) -> Array:
        # A view of its own for each: threads must not share reference counts.
        return self._array[index : index + 1].reshape(self._array.shape[1:])

    def rows(self, index: int) -> Array | None:
        is_plain = self._array.dtype.isnative and self._array.dtype.kind in "biuf"
        return self._row(index) if is_plain else None

    def batch(self) -> Array:
        return self._array

    def copy(self) -> Array:
        return self._array.copy()

    def some(self, indices: Array) -> Array:
        return self._array[indices]

    def objects(self, index: int) -> list[Any]:
        return []

    def put_objects(self, index: int, held: Iterator[Any]) -> None:
        pass

    def row(self, index: int) -> Any:  # noqa: ANN401
        return self._array[index].copy()

    is_whole = True
    is_array = True


class _DictSlots:
    """Slots by key."""

    def __init__(self, parts: Mapping[str, Slots]) -> None:
        self._parts = parts

    def writer(self, index: int) -> Put:
        writers = {key: part.writer(index) for key, part in self._parts.items()}

        def put(value: Any) -> None:  # noqa: ANN401
            try:
                values = [(put_part, value[key]) for key, put_part in writers.items()]
            except (KeyError, TypeError, IndexError):
                due = ", ".join(map(repr, writers))
                msg = f"observation must be a dict of {due}, got {_brief(value)}"
                raise SlotError(msg) from None
            for put_part, part in values:
                put_part(part)

        return put

    def rows(self, index: int) -> None:
        return None

    def batch(self) -> dict[str, Any]:
        return {key: part.batch() for key, part in self._parts.items()}

    def copy(self) -> dict[str, Any]:
        return {key: part.copy() for key, part in self._parts.items()}

    def some(self, indices: Array) -> dict[str, Any]:
        return {key: part.some(indices) for key, part in self._parts.items()}

    def objects(self, index: int) -> list[Any]:
        return [held for part in self._parts.values() for held in part.objects(index)]

    def put_objects(self, index: int, held: Iterator[Any]) -> None:
        for part in self._parts.values():
            part.put_objects(index, held)

    def row(self, index: int) -> dict[str, Any]:
        return {key: part.row(index) for key, part in self._parts.items()}

    is_whole = False
    is_array = False


class _TupleSlots:
    """Slots by place."""

    def __init__(self, parts: Sequence[Slots]) -> None:
        self._parts = parts

    def writer(self, index: int) -> Put:
        writers = [part.writer(index) for part in self._parts]

        def put(value: Any) -> None:  # noqa: ANN401
            try:
                values = [value[place] for place in range(len(writers))]
            except (KeyError, TypeError, IndexError):
                msg = (
                    f"observation must be a tuple of {len(writers)}, got "
                    f"{_brief(value)}"
                )
                raise SlotError(msg) from None
            for put_part, part in zip(writers, values, strict=True):
                put_part(part)

        return put

    def rows(self, index: int) -> tuple[Array, ...] | None:
        rows = [part.rows(index) for part in self._parts]
        arrays = tuple(row for row in rows if isinstance(row, np.ndarray))
        return arrays if len(arrays) == len(rows) else None

    def batch(self) -> tuple[Any, ...]:
        return tuple(part.batch() for part in self._parts)

    def copy(self) -> tuple[Any, ...]:
        return tuple(part.copy() for part in self._parts)

    def some(self, indices: Array) -> tuple[Any, ...]:
        return tuple(part.some(indices) for part in self._parts)

    def objects(self, index: int) -> list[Any]:
        return [held for part in self._parts for held in part.objects(index)]

    def put_objects(self, index: int, held: Iterator[Any]) -> None:
        for part in self._parts:
            part.put_objects(index, held)

    def row(self, index: int) -> tuple[Any, ...]:
        return tuple(part.row(index) for part in self._parts)

    is_whole = False
    is_array = False


class _ObjectSlots:
    """One object per sub-environment, concatenated on demand."""

    def __init__(self, space: Space, count: int) -> None:
        self._space = space
        self._objects: list[Any] = [None] * count
        self._out: Any = create_empty_array(space, n=count, fn=np.zeros)

    def writer(self, index: int) -> Put:
        objects = self._objects

        def put(value: Any) -> None:  # noqa: ANN401
            objects[index] = value

        return put

    def rows(self, index: int) -> None:
        return None

    def batch(self) -> Any:  # noqa: ANN401
        self._out = concatenate(self._space, self._objects, self._out)
        return self._out

    def copy(self) -> Any:  # noqa: ANN401
        return deepcopy(self.batch())

    def some(self, indices: Array) -> Any:  # noqa: ANN401
        chosen = [self._objects[index] for index in indices]
        out: Any = create_empty_array(self._space, n=len(chosen), fn=np.zeros)
        return deepcopy(concatenate(self._space, chosen, out))

    def objects(self, index: int) -> list[Any]:
        return [self._objects[index]]

    def put_objects(self, index: int, held: Iterator[Any]) -> None:
        self._objects[index] = next(held)

    def row(self, index: int) -> Any:  # noqa: ANN401
        return deepcopy(self._objects[index])

    is_whole = True
    is_array = False


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
