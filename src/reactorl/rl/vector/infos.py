# SPDX-License-Identifier: Apache-2.0
"""Batching of infos, as Gymnasium does it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.sub_env import Info, Infos

    Add = Callable[[dict[str, Any], Any, int], dict[str, Any]]
    """Adds the info of one environment: Gymnasium's ``VectorEnv._add_info``."""

PLAIN: Final = (int, float, bool)


def batch_infos(replies: Mapping[int, Infos], count: int, add: Add) -> dict[str, Any]:
    """Return the infos of a vector.

    Args:
        replies: The infos of environments, by index, in order.
        count: Number of environments.
        add: Adds the info of one environment.
    """
    if len(replies) == count:
        found = _table(
            [parts[0] for parts in replies.values() if len(parts) == 1], count
        )
        if found is not None:
            return found
    infos: dict[str, Any] = {}
    for index, parts in replies.items():
        for part in parts:
            infos = add(infos, part, index)
    return infos


def _table(infos: Sequence[Info], count: int) -> dict[str, Any] | None:
    """Batch infos that all have the same keys with numbers, column by column.

    That takes a fifth of the time. Returns None if the infos are of another form.
    """
    if len(infos) != count:
        return None
    names = tuple(infos[0])
    for info in infos:
        if tuple(info) != names:
            return None
    found: dict[str, Any] = {}
    columns = zip(*[info.values() for info in infos], strict=True)
    mask = _all_true(count)
    for name, column in zip(names, columns, strict=True):
        kind = type(column[0])
        if kind not in PLAIN or list(map(type, column)).count(kind) != count:
            return None
        if name == "final_obs" or str(name).startswith("_"):
            return None  # keys with a meaning of their own
        try:
            found[name] = np.array(column, dtype=kind)
        except OverflowError:
            return None
        found[f"_{name}"] = mask.copy()
    return found


@cache
def _all_true(count: int) -> Array:
    """Return the mask of infos that all environments have; do not modify it."""
    return np.ones(count, np.bool_)
