# SPDX-License-Identifier: Apache-2.0
"""Action masks: which actions an environment allows, from ``info["action_mask"]``.

A mask has one entry for each action of a ``Discrete`` space. For ``MultiDiscrete`` it
has one for each value of each component: a flat array, or one array per component, as
``MultiDiscrete.sample`` takes them. For ``Dict`` and ``Tuple`` it has their structure;
parts that are neither have the mask None. An environment that gives masks gives one in
every reset; a step without a mask allows all actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import spaces

from reactorl.rl.flow.action_encoding import leaf_spaces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Array

KEY: Final = "action_mask"


class MaskError(ValueError):
    """An action mask is invalid.

    Attributes:
        index: The environment, if known.
    """

    def __init__(self, what: str, index: int = 0) -> None:
        super().__init__(what)
        self.index = index


class MaskReader:
    """Reads action masks of a space.

    Args:
        space: The action space.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self._space = space
        self._counts = np.array(
            [count for leaf in leaf_spaces(space) for count in _counts(leaf)], np.int64
        )
        self._first = np.cumsum(self._counts) - self._counts

    def all_allowed(self) -> Array:
        """Return the mask that allows all actions.

        Raises:
            MaskError: There are no masks for the space.
        """
        if not len(self._counts):
            msg = (
                f'info["{KEY}"] must be absent unless the action space is Discrete or '
                f"MultiDiscrete or has such parts, got one for {self._space}"
            )
            raise MaskError(msg)
        return np.ones(int(self._counts.sum()), np.bool_)

    def read(self, mask: Any) -> Array:  # noqa: ANN401
        """Return a mask as a flat array of bools; None allows all actions.

        Raises:
            MaskError: Its shape is wrong, or it forbids all actions.
        """
        flags = self._flags(mask)
        if not self._allowed(flags).all():
            shown = _shown(mask)
            msg = f'info["{KEY}"] must allow at least one action, got {shown}'
            raise MaskError(msg)
        return flags

    def read_last(self, mask: Any) -> Array:  # noqa: ANN401
        """Return the mask of the end of an episode.

        There may be no next action there: a component whose actions are all forbidden
        has all of them.

        Raises:
            MaskError: Its shape is wrong.
        """
        flags = self._flags(mask)
        none = np.repeat(~self._allowed(flags), self._counts)
        found: Array = flags | none
        return found

    def _flags(self, mask: Any) -> Array:  # noqa: ANN401
        every = self.all_allowed()
        if mask is None:
            return every
        nested = isinstance(self._space, spaces.Dict | spaces.Tuple)
        if nested and not isinstance(mask, np.ndarray):
            found = _flat(_parts(self._space, mask))
        else:
            found = _flat(mask)
        if found.shape != every.shape:
            msg = (
                f'info["{KEY}"] must have {len(every)} entries for {self._space}, got '
                f"{found.size}"
            )
            raise MaskError(msg)
        flags: Array = found.astype(np.bool_)
        return flags

    def _allowed(self, flags: Array) -> Array:
        """Return for each component whether an action is allowed."""
        found: Array = np.logical_or.reduceat(flags, self._first)
        return found


def _counts(space: spaces.Space[Any]) -> list[int]:
    """Return the number of actions of each component that masks have."""
    if isinstance(space, spaces.Discrete):
        return [int(space.n)]
    if isinstance(space, spaces.MultiDiscrete):
        return [int(count) for count in space.nvec.reshape(-1)]
    return []


def _parts(space: spaces.Space[Any], mask: Any) -> list[Array]:  # noqa: ANN401
    """Return the masks of the parts of a space, in its order.

    Raises:
        MaskError: The mask has another structure.
    """
    keys: list[tuple[Any, spaces.Space[Any]]]
    if isinstance(space, spaces.Dict):
        keys, known = list(space.items()), isinstance(mask, Mapping)
        given = set(mask) if known else set()
        known = known and given <= {key for key, _ in keys}
    elif isinstance(space, spaces.Tuple):
        keys, known = list(enumerate(space.spaces)), isinstance(mask, list | tuple)
        known = known and len(mask) == len(keys)
        given = set(range(len(keys)))
    else:
        count = sum(_counts(space))
        if mask is not None and not count:
            msg = f'info["{KEY}"] must be None for {space}, got {mask!r}'
            raise MaskError(msg)
        found = np.ones(count, np.bool_) if mask is None else _flat(mask)
        if found.size != count:
            msg = (
                f'info["{KEY}"] must have {count} entries for {space}, got {found.size}'
            )
            raise MaskError(msg)
        return [found]
    if mask is not None and not known:
        msg = f'info["{KEY}"] must have the structure of {space}, got {mask!r}'
        raise MaskError(msg)
    each = [
        (sub, None if mask is None or k not in given else mask[k]) for k, sub in keys
    ]
    return [part for sub, inner in each for part in _parts(sub, inner)]


def _flat(mask: Any) -> Array:  # noqa: ANN401
    if isinstance(mask, list | tuple):
        return np.concatenate([_flat(part) for part in mask]) if mask else np.empty(0)
    return np.asarray(mask).reshape(-1)


def _shown(mask: Any) -> object:  # noqa: ANN401
    return mask if isinstance(mask, Mapping) else _flat(mask).tolist()


class ActionMasks:
    """The current masks of several environments.

    Args:
        space: The action space of one environment.
        count: Number of environments.
    """

    def __init__(self, space: spaces.Space[Any], count: int) -> None:
        self._reader = MaskReader(space)
        self._count = count
        self.rows: Array | None = None
        """One row each; None: the environments give no masks. Replaced, never changed:
        policies may hold it."""

    def begin(self, infos: Mapping[int, Mapping[str, Any]], indices: list[int]) -> None:
        """Note the masks of resets.

        Args:
            infos: Of resets, by environment; those that are empty may be missing.
            indices: Environments that were reset.

        Raises:
            MaskError: One is invalid.
        """
        if self.rows is None:
            if not any(KEY in info for info in infos.values()):
                return
            every = self._reader.all_allowed()
            self.rows = np.tile(every, (self._count, 1))
        self._put(infos, indices)

    def step(self, infos: Mapping[int, Mapping[str, Any]], indices: list[int]) -> None:
        """Note the masks after a step.

        Args:
            infos: As in ``begin``; of an autoreset, the info of the reset.
            indices: Environments that did a step.

        Raises:
            MaskError: One is invalid, or no reset gave one before.
        """
        if self.rows is not None:
            self._put(infos, indices)
            return
        for index, info in infos.items():
            if KEY in info:
                msg = (
                    f'info["{KEY}"] must be in the infos of resets as well, got it '
                    "from a step only; None allows all actions"
                )
                raise MaskError(msg, index)

    def _put(self, infos: Mapping[int, Mapping[str, Any]], indices: list[int]) -> None:
        assert self.rows is not None
        rows = self.rows.copy()
        rows[indices] = True
        for index, info in infos.items():
            if KEY in info:
                rows[index] = self._read(info, index)
        self.rows = rows

    def _read(self, info: Mapping[str, Any], index: int) -> Array:
        try:
            return self._reader.read(info.get(KEY))
        except MaskError as error:
            raise MaskError(str(error), index) from None

    def last(self, info: Mapping[str, Any], index: int) -> Array | None:
        """Return the mask at the end of an episode; None: there are no masks.

        A mask that forbids all actions there allows all.

        Raises:
            MaskError: It is invalid.
        """
        if self.rows is None:
            return None
        try:
            return self._reader.read_last(info.get(KEY))
        except MaskError as error:
            raise MaskError(str(error), index) from None

    def save(self) -> Data:
        """Return the masks as plain data; None if there are none."""
        return self.rows

    def load(self, saved: Data) -> None:
        """Restore saved masks."""
        self.rows = saved


def stacked_masks(masks: Sequence[Array | None]) -> Array | None:
    """Return masks as rows; one that is missing allows all actions.

    None if all are missing.
    """
    given = next((mask for mask in masks if mask is not None), None)
    if given is None:
        return None
    every = np.ones_like(given)
    return np.stack([every if mask is None else mask for mask in masks])
