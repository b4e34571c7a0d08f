# SPDX-License-Identifier: Apache-2.0
"""Checks of what environments and the functions that make them return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


class BadResultError(ValueError):
    """An environment returned an invalid value."""


def check_env(made: object, required: Sequence[str]) -> None:
    """Refuse an object that is not an environment.

    Raises:
        BadResultError: It is a class, or lacks an attribute.
    """
    missing = [name for name in required if not hasattr(made, name)]
    if missing or isinstance(made, type):
        why = f"has no {missing[0]}" if missing else "is a class"
        msg = f"env_fn must return an environment, got {made!r}, which {why}"
        raise BadResultError(msg)


def check_info(info: object) -> None:
    """Refuse an info that is not a dict.

    Raises:
        BadResultError: It is something else.
    """
    if not isinstance(info, dict):
        msg = f"info must be a dict, got {type(info).__name__}"
        raise BadResultError(msg)


def check_nan(value: Any, what: str) -> None:  # noqa: ANN401
    """Refuse NaN in a value, at any depth.

    Raises:
        BadResultError: There is one.
    """
    if isinstance(value, dict):
        for part in value.values():
            check_nan(part, what)
    elif isinstance(value, tuple | list):
        for part in value:
            check_nan(part, what)
    elif not isinstance(value, str):
        array = np.asarray(value)
        if np.issubdtype(array.dtype, np.inexact) and np.isnan(array).any():
            msg = f"{what} must not contain NaN, got {value}"
            raise BadResultError(msg)
