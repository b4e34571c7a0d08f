# SPDX-License-Identifier: Apache-2.0
"""Values on their way to another process."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle


def packed(value: object) -> bytes:
    """Return a value as bytes: fast if it can be, by value if it must be."""
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        return packed_by_value(value)
    # Names in the main module mean nothing elsewhere: the other one's is another.
    return packed_by_value(value) if b"__main__" in data else data


def packed_by_value(value: object) -> bytes:
    """Return a value as bytes that need nothing of the main module."""
    return cloudpickle.dumps(value)  # type: ignore[no-any-return]


def unpacked(data: bytes) -> Any:  # noqa: ANN401
    """Return a value; only ever from a process of our own."""
    return pickle.loads(data)
