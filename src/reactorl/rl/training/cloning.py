# SPDX-License-Identifier: Apache-2.0
"""The state of an environment as plain data, where that can be had.

An environment is a chain of wrappers around a core. What their attributes hold of
numbers, strings, arrays, lists and random generators is its state. Spaces, functions,
windows and whatever else is not plain is not: a new environment has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.training.saved import random_state, set_random_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.rl.training.saved import Data

_PLAIN = (bool, int, float, str, type(None), np.generic, np.ndarray)
_GENERATOR = "__generator__"
_TUPLE = "__tuple__"


def _layers(env: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the wrappers, from the outermost, and the core."""
    while True:
        yield env
        inner = env.__dict__.get("env")
        if inner is None:
            return
        env = inner


def saved_env(env: Any) -> Data:  # noqa: ANN401
    """Return the state of an environment."""
    return [
        {
            name: plain
            for name, value in layer.__dict__.items()
            if name != "env" and (plain := told(value)) is not NOT_PLAIN
        }
        for layer in _layers(env)
    ]


def restore_env(env: Any, saved: Data) -> None:  # noqa: ANN401
    """Put an environment of the same kind into a state.

    Raises:
        ValueError: It has other wrappers.
    """
    layers = list(_layers(env))
    if len(layers) != len(saved):
        msg = f"{len(saved)} wrappers were saved, and the environment has {len(layers)}"
        raise ValueError(msg)
    for layer, state in zip(layers, saved, strict=True):
        for name, value in state.items():
            held = layer.__dict__.get(name)
            if isinstance(value, dict) and _GENERATOR in value:
                set_random_state(held, value[_GENERATOR])
            else:
                layer.__dict__[name] = heard(value)


NOT_PLAIN = object()


def told(value: Any) -> Any:  # noqa: ANN401
    """Return a value as plain data; ``NOT_PLAIN`` if it is none."""
    if isinstance(value, np.random.Generator):  # noqa: TID251
        return {_GENERATOR: random_state(value)}
    if isinstance(value, np.ndarray):
        return NOT_PLAIN if value.dtype == object else value.copy()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, tuple | list):
        parts = [told(part) for part in value]
        if any(part is NOT_PLAIN for part in parts):
            return NOT_PLAIN
        return {_TUPLE: parts} if isinstance(value, tuple) else parts
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        by_key = {key: told(part) for key, part in value.items()}
        return NOT_PLAIN if any(p is NOT_PLAIN for p in by_key.values()) else by_key
    return NOT_PLAIN


def heard(value: Any) -> Any:  # noqa: ANN401
    """Return the value that plain data tells of."""
    if isinstance(value, dict):
        if _TUPLE in value:
            return tuple(heard(part) for part in value[_TUPLE])
        return {key: heard(part) for key, part in value.items()}
    if isinstance(value, list):
        return [heard(part) for part in value]
    return value.copy() if isinstance(value, np.ndarray) else value
