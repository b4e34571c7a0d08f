# SPDX-License-Identifier: Apache-2.0
"""Values as text that is the same in every run of the same program.

The text does not depend on the hash seed, addresses, or the order of sets. Without
``deep`` only plain scalars are spelled out, which is cheap enough for every run; with
``deep`` arrays, containers and picklable objects are distinguished as well.
"""

from __future__ import annotations

import dataclasses
import enum
import io
import pickle
import sys
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST: Final = 64
"""Longer strings, bytes and containers are cut and distinguished by a digest."""

DEEPEST: Final = 8
"""Containers nested deeper than this are distinguished by a digest of their pickle."""

_LONGEST_INT: Final = 4096  # bits; far below the limit of int to str conversion
_PICKLE_PROTOCOL: Final = 4  # one for all Pythons, so that digests agree


def value_text(value: object, *, deep: bool) -> str:
    """Return the canonical text of ``value``.

    Args:
        value: Anything that was sent on a port or scheduled with an action.
        deep: Look into arrays, containers and objects. Without it anything but an
            exact None, bool, int, float, str or bytes is its type name in ``<>``.
    """
    return _text(value, deep=deep, above=())


def _text(value: object, *, deep: bool, above: tuple[int, ...]) -> str:
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return repr(value)
    if isinstance(value, int) and kind is int:
        return _int_text(value)
    if isinstance(value, str | bytes) and (kind is str or kind is bytes):
        return _string_text(value)
    if not deep:
        return _type_text(value)
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value.name}"
    if id(value) in above:
        return f"<{kind.__name__} that contains itself>"
    array = _array_text(value, above=above)
    if array is not None:
        return array
    if len(above) < DEEPEST:
        inner = _container_text(value, above=(*above, id(value)))
        if inner is not None:
            return inner
    return _pickle_text(value)


def _type_text(value: object) -> str:
    return f"<{type(value).__name__}>"


def _digest(data: bytes | memoryview) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _int_text(value: int) -> str:
    bits = value.bit_length()
    if bits <= _LONGEST_INT:
        return repr(value)
    data = value.to_bytes(bits // 8 + 1, "little", signed=True)
    return f"<int of {bits} bits, {_digest(data)}>"


def _string_text(value: str | bytes) -> str:
    if len(value) <= LONGEST:
        return repr(value)
    data = value if isinstance(value, bytes) else value.encode(errors="surrogatepass")
    return f"{value[:LONGEST]!r}...<{len(value)} long, {_digest(data)}>"


def _container_text(value: object, *, above: tuple[int, ...]) -> str | None:
    """Return the text of a container by its parts, or None for anything else."""

    def text(part: object) -> str:
        return _text(part, deep=True, above=above)

    kind = type(value)
    if isinstance(value, tuple) and kind is not tuple:
        if not hasattr(value, "_fields"):
            return None
        return f"{kind.__name__}({_join(map(text, value))})"
    if isinstance(value, tuple):
        parts = _join(map(text, value))
        return f"({parts},)" if len(value) == 1 else f"({parts})"
    if isinstance(value, list) and kind is list:
        return f"[{_join(map(text, value))}]"
    if isinstance(value, dict) and kind is dict:
        items = (f"{text(key)}: {text(item)}" for key, item in value.items())
        return "{" + _join(items) + "}"
    if isinstance(value, set | frozenset) and kind in (set, frozenset):
        parts = _join(sorted(map(text, value)))
        plain = "{" + parts + "}" if parts else ""
        return plain if plain and kind is set else f"{kind.__name__}({plain})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (
            f"{field.name}={text(getattr(value, field.name, None))}"
            for field in dataclasses.fields(value)
        )
        return f"{kind.__name__}({_join(fields)})"
    return None


def _join(parts: Iterable[str]) -> str:
    """Join with commas; past ``LONGEST`` parts, count the rest and digest them all."""
    shown: list[str] = []
    count = 0
    seen = blake2b(digest_size=8)
    for part in parts:
        count += 1
        data = part.encode(errors="surrogatepass")
        seen.update(len(data).to_bytes(8, "little") + data)
        if count <= LONGEST:
            shown.append(part)
    if count > LONGEST:
        shown.append(f"...<{count} parts, {seen.hexdigest()}>")
    return ", ".join(shown)


def _array_text(value: object, *, above: tuple[int, ...]) -> str | None:
    """Return dtype, shape and digest of an array, or None if it is not one."""
    numpy: Any = sys.modules.get("numpy")  # a value of ours can only exist if loaded
    if numpy is None:
        return None
    kind = type(value)
    array: Any = value
    if isinstance(value, numpy.generic):
        item = array.item()
        if isinstance(item, numpy.generic):  # wider than any Python scalar
            return _type_text(value)
        return f"{array.dtype.name}({_text(item, deep=True, above=above)})"
    if not isinstance(value, numpy.ndarray):
        if not hasattr(kind, "__array__") or not hasattr(value, "dtype"):
            return None
        try:
            array = numpy.asarray(value)
        except Exception:  # foreign code; pickling may still work
            return None
    if array.dtype.hasobject or array.dtype.names is not None:
        # Bytes would be addresses, or hold padding.
        inside = _text(array.tolist(), deep=True, above=(*above, id(value)))
        return f"{kind.__name__}({array.dtype.str}, {array.shape}, {inside})"
    data = _digest(numpy.ascontiguousarray(array).tobytes())
    return f"{kind.__name__}({array.dtype.str}, {array.shape}, {data})"


class _StablePickler(pickle.Pickler):
    """Pickles independently of identity: no memo, sets and arrays as their text."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=_PICKLE_PROTOCOL)
        self.fast = True  # no memo: sharing of equal objects must not show

    def persistent_id(self, obj: object) -> str | None:
        """Replace objects that do not pickle to the same bytes every time."""
        if type(obj) is set or type(obj) is frozenset:
            return _container_text(obj, above=(id(obj),))
        return _array_text(obj, above=())


def _pickle_text(value: object) -> str:
    first, second = _pickled(value), _pickled(value)
    if first is None or first != second:
        return _type_text(value)
    return f"<{type(value).__name__} {_digest(first)}>"


def _pickled(value: object) -> bytes | None:
    file = io.BytesIO()
    try:
        _StablePickler(file).dump(value)
    except Exception:  # user code runs here; any failure means that it cannot
        return None
    return file.getvalue()
