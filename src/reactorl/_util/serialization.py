# SPDX-License-Identifier: Apache-2.0
"""Serialization of values that are sent to another process.

Names of ``__main__`` are sent by value, with cloudpickle: the receiver has another main
module. Needs cloudpickle (extra ``rl``) for such values only.
"""

from __future__ import annotations

import pickle
from typing import Any


def serialize(value: object) -> bytes:
    """Return a value as bytes, by pickle if possible, else by cloudpickle."""
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        return serialize_by_value(value)
    return serialize_by_value(value) if names_main(data) else data


def names_main(data: bytes) -> bool:
    """Return whether a pickle may refer to names of the main module."""
    return b"__main__" in data


def serialize_by_value(value: object) -> bytes:
    """Return a value as bytes that do not depend on the main module."""
    import cloudpickle

    return cloudpickle.dumps(value)  # type: ignore[no-any-return]


def deserialize(data: bytes) -> Any:  # noqa: ANN401
    """Return a value; only for data of our own processes."""
    return pickle.loads(data)
