# SPDX-License-Identifier: Apache-2.0
"""What ``reset`` may be told: seeds, and which environments to reset."""

from __future__ import annotations

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
    seeds = list(seed)
    if len(seeds) != count:
        msg = f"{len(seeds)} seeds for {count} environments"
        raise ValueError(msg)
    return seeds


def mask_for(mask: object, count: int) -> list[bool]:
    """Return for each environment whether it is to be reset.

    Raises:
        TypeError: It is no array of bool.
        ValueError: It has another shape, or names nobody.
    """
    if not isinstance(mask, np.ndarray):
        msg = f"options['reset_mask'] is a {type(mask).__name__}, not an array"
        raise TypeError(msg)
    if mask.dtype != np.bool_:
        msg = f"options['reset_mask'] has the type {mask.dtype}, not bool"
        raise TypeError(msg)
    if mask.shape != (count,):
        due = (count,)
        msg = f"options['reset_mask'] has the shape {mask.shape}, not {due}"
        raise ValueError(msg)
    if not mask.any():
        msg = "options['reset_mask'] is False for all; nothing would be reset"
        raise ValueError(msg)
    return [bool(each) for each in mask]
