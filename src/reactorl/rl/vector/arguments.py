# SPDX-License-Identifier: Apache-2.0
"""Arguments of ``reset`` and ``send``: seeds, masks, environment ids.

Errors that Gymnasium's vector environments raise as well contain its texts, and come in
its order: callers match on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def seeds_for(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return a seed for each environment; ``seed + i`` for one integer.

    Raises:
        TypeError: ``seed`` is not an integer, a list or None.
        ValueError: The list has the wrong length.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, int | np.integer):
        return [int(seed) + index for index in range(count)]
    given: object = seed
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f"seed must be an integer, a list of integers or None, got {seed!r}"
        raise TypeError(msg)
    seeds = list(seed)
    if len(seeds) != count:
        msg = (
            f"If seeds are passed as a list the length must match num_envs={count} but "
            f"got length={len(seeds)}."
        )
        raise ValueError(msg)
    return seeds


def check_options(options: object) -> None:
    """Check the options of a reset.

    Raises:
        TypeError: They are not a dict.
    """
    if options is not None and not isinstance(options, dict):
        msg = f"options must be a dict or None, got {options!r}"
        raise TypeError(msg)


def mask_for(mask: object, count: int) -> list[bool]:
    """Return for each environment whether the mask includes it.

    Raises:
        TypeError: The mask is not an array of bool.
        ValueError: It has the wrong shape, or includes no environment.
    """
    if not isinstance(mask, np.ndarray):
        msg = (
            "`options['reset_mask']` must be a numpy array, got "
            f"{type(mask)}; use np.array(..., dtype=bool)"
        )
        raise TypeError(msg)
    if mask.shape != (count,):
        msg = f"`options['reset_mask']` must have shape `({count},)`, got {mask.shape}"
        raise ValueError(msg)
    if mask.dtype != np.bool_:
        msg = (
            f"`options['reset_mask']` must have `dtype=np.bool_`, got {mask.dtype}; "
            "use mask.astype(bool)"
        )
        raise TypeError(msg)
    if not mask.any():
        msg = (
            "`options['reset_mask']` must contain a boolean array with at least one "
            f"True value, got reset_mask={mask}"
        )
        raise ValueError(msg)
    return [bool(each) for each in mask]


def ids_of(env_id: object) -> list[int]:
    """Return the indices in an ``env_id`` array.

    Raises:
        TypeError: They are not integers.
    """
    array = np.asarray(env_id)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        msg = f"env_id must be a list of integers, got {env_id!r}"
        raise TypeError(msg)
    found: list[int] = array.tolist()
    return found
