# SPDX-License-Identifier: Apache-2.0
"""Serialization of values that are sent to another process."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle


def serialize(value: object) -> bytes:
    """Return a value as bytes, by pickle if possible, else by cloudpickle."""
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        return serialize_by_value(value)
    # The worker process has another __main__, so its names must be sent by value.
    return serialize_by_value(value) if b"__main__" in data else data


def serialize_by_value(value: object) -> bytes:
    """Return a value as bytes that do not depend on the main module."""
    return cloudpickle.dumps(value)  # type: ignore[no-any-return]


def deserialize(data: bytes) -> Any:  # noqa: ANN401
    """Return a value; only for data of our own processes."""
    return pickle.loads(data)
