# SPDX-License-Identifier: Apache-2.0
"""Checks of what environments and the functions that make them return."""

from __future__ import annotations

import traceback
from pathlib import PurePath
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


def old_api_hint(error: BaseException) -> str:
    """Return what to do if an environment failed because it has the API of Gym.

    Its ``step`` returns four values, its ``reset`` only an observation, or takes no
    seed. Empty if the error has another cause.
    """
    text = str(error)
    if isinstance(error, TypeError):
        is_old = "reset() got an unexpected keyword argument" in text
    else:
        # Raised where Gymnasium or this package takes the result apart.
        is_old = type(error) is ValueError and "values to unpack (expected" in text
        frames = traceback.extract_tb(error.__traceback__)
        place = PurePath(frames[-1].filename).parts if frames else ()
        is_old = is_old and ("gymnasium" in place or "reactorl" in place)
    if not is_old:
        return ""
    return (
        "It seems to have the API of Gym before 0.26: step() must return (observation, "
        "reward, terminated, truncated, info), and reset(seed=..., options=...) "
        "(observation, info). Wrap it in shimmy.GymV21CompatibilityV0"
    )


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
