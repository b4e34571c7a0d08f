# SPDX-License-Identifier: Apache-2.0
"""What ``reset`` and ``send`` may be told: seeds, and which environments are meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def seeds_for(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return a seed for each environment: one number counts up from environment 0.

    Raises:
        ValueError: There are seeds for another number of environments.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, int | np.integer):
        return [int(seed) + index for index in range(count)]
    given: object = seed
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f"seed is {seed!r}; it is a whole number, a list of them, or None"
        raise TypeError(msg)
    seeds = list(seed)
    if len(seeds) != count:
        msg = f"{len(seeds)} seeds for {count} environments"
        raise ValueError(msg)
    return seeds


def check_options(options: object) -> None:
    """Refuse options that are no dict.

    Raises:
        TypeError: They are none.
    """
    if options is not None and not isinstance(options, dict):
        msg = f"options is {options!r}; it is a dict, or None"
        raise TypeError(msg)


def mask_for(mask: object, count: int) -> list[bool]:
    """Return for each environment whether it is to be reset.

    Raises:
        TypeError: It is no array of bool.
        ValueError: It has another shape, or names nobody.
    """
    if not isinstance(mask, np.ndarray):
        msg = (
            f"options['reset_mask'] is a {type(mask).__name__}, not an array; make it "
            "one: np.array(..., dtype=bool)"
        )
        raise TypeError(msg)
    if mask.dtype != np.bool_:
        msg = (
            f"options['reset_mask'] has the type {mask.dtype}, not bool; use "
            "mask.astype(bool)"
        )
        raise TypeError(msg)
    if mask.shape != (count,):
        due = (count,)
        msg = f"options['reset_mask'] has the shape {mask.shape}, not {due}"
        raise ValueError(msg)
    if not mask.any():
        msg = "options['reset_mask'] is False for all; nothing would be reset"
        raise ValueError(msg)
    return [bool(each) for each in mask]


def ids_of(env_id: object) -> list[int]:
    """Return environments as ``info["env_id"]`` names them.

    Raises:
        TypeError: They are no whole numbers.
    """
    array = np.asarray(env_id)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        msg = f"env_id is {env_id!r}; it is a list of whole numbers, as info['env_id']"
        raise TypeError(msg)
    found: list[int] = array.tolist()
    return found
