# SPDX-License-Identifier: Apache-2.0
"""Serialization of values that are sent to another process.

Names of ``__main__`` are sent by value, with cloudpickle: the receiver has another main
module. Needs cloudpickle (extra ``rl``) for such values only.
"""

from __future__ import annotations

import functools
import io
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
    file = io.BytesIO()
    _pickler_by_value()(file).dump(value)
    return file.getvalue()


def deserialize(data: bytes) -> Any:  # noqa: ANN401
    """Return a value; only for data of our own processes."""
    return pickle.loads(data)


@functools.cache
def _pickler_by_value() -> Any:  # noqa: ANN401
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Keeps the qualified names of classes: programs are compared with them."""

        def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401
            reduced = super().reducer_override(obj)
            if (
                isinstance(obj, type)
                and isinstance(reduced, tuple)
                and len(reduced) > 2
            ):
                attributes, *_ = reduced[2]
                attributes["__qualname__"] = obj.__qualname__
            return reduced

    return Pickler


def state_without_cache(value: object) -> dict[str, Any]:
    """Return the attributes of an object but those of ``cached_property``.

    For ``__getstate__`` of classes that compute what pickle cannot save.
    """
    kind = type(value)
    return {
        name: held
        for name, held in vars(value).items()
        if not isinstance(getattr(kind, name, None), functools.cached_property)
    }
