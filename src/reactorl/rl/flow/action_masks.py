# SPDX-License-Identifier: Apache-2.0
"""Action masks: which actions an environment allows, from ``info["action_mask"]``.

A mask has one entry for each action of a ``Discrete`` space. For ``MultiDiscrete`` it
has one for each value of each component: a flat array, or one array per component, as
``MultiDiscrete.sample`` takes them. An environment that gives masks gives one in every
reset; a step without a mask allows all actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        self._counts: Array | None = None
        if isinstance(space, spaces.Discrete):
            self._counts = np.array([int(space.n)])
        elif isinstance(space, spaces.MultiDiscrete):
            self._counts = space.nvec.reshape(-1)

    def all_allowed(self) -> Array:
        """Return the mask that allows all actions.

        Raises:
            MaskError: There are no masks for the space.
        """
        if self._counts is None:
            msg = (
                f'info["{KEY}"] must be absent unless the action space is Discrete or '
                f"MultiDiscrete, got one for {self._space}"
            )
            raise MaskError(msg)
        return np.ones(int(self._counts.sum()), np.bool_)

    def read(self, mask: Any) -> Array:  # noqa: ANN401
        """Return a mask as a flat array of bools; None allows all actions.

        Raises:
            MaskError: Its shape is wrong, or it forbids all actions.
        """
        every = self.all_allowed()
        if mask is None:
            return every
        assert self._counts is not None
        found = _flat(mask)
        if found.shape != every.shape:
            msg = (
                f'info["{KEY}"] must have {len(every)} entries for {self._space}, got '
                f"{found.size}"
            )
            raise MaskError(msg)
        flags: Array = found.astype(np.bool_)
        first = np.cumsum(self._counts) - self._counts
        if not np.logical_or.reduceat(flags, first).all():
            msg = f'info["{KEY}"] must allow at least one action, got {found.tolist()}'
            raise MaskError(msg)
        return flags


def _flat(mask: Any) -> Array:  # noqa: ANN401
    if isinstance(mask, list | tuple):
        return np.concatenate([_flat(part) for part in mask]) if mask else np.empty(0)
    return np.asarray(mask).reshape(-1)


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

        There may be no next action at the end: then the mask allows all, as without a
        mask.

        Raises:
            MaskError: It is invalid.
        """
        if self.rows is None:
            return None
        if info.get(KEY) is None or not _flat(info[KEY]).any():
            return self._reader.all_allowed()
        return self._read(info, index)

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
