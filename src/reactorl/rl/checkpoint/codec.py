# SPDX-License-Identifier: Apache-2.0
"""Plain data as JSON and a list of arrays, and back, bit-identical.

What JSON has (numbers, strings, lists) is encoded as itself. Everything else is an
object with one key that names its type: ``{"tuple": [...]}``, ``{"array": 3}``. Arrays
with the same type, shape and content are stored once, so that the result is a function
of the content: whether two reactors share an array depends on the process they are in.
Decoding executes no code.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.checkpoint.registry import Data
    from reactorl.rl.flow.algorithm import Array

KINDS: Final = frozenset("biufcSUmM")
"""NumPy's kinds of numbers, times and text."""
_SMALL: Final = 2**63


class Packer:
    """Encodes plain data as JSON; arrays are appended to ``arrays``."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._places: dict[int, int] = {}  # by the id of an array
        self._kept: list[Array] = []  # whose ids must stay theirs
        self._alike: dict[tuple[str, tuple[int, ...]], int | dict[bytes, int]] = {}

    def pack(self, value: Data, where: str = "data") -> Any:  # noqa: ANN401
        """Return a value in terms of JSON.

        Args:
            value: Plain data.
            where: Its name in an error.

        Raises:
            TypeError: It is not plain data.
        """
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if abs(value) < _SMALL else {"int": hex(value)}
        if kind is float:
            return (
                value if math.isfinite(value) else _scalar("float", np.float64, value)
            )
        if kind is bytes:
            return {"bytes": value.hex()}
        if kind is list or kind is tuple:
            found = [self.pack(v, f"{where}[{i}]") for i, v in enumerate(value)]
            return {"tuple": found} if kind is tuple else found
        if kind is dict:
            return {
                "dict": [
                    [self.pack(k, f"{where}, a key"), self.pack(v, f"{where}[{k!r}]")]
                    for k, v in value.items()
                ]
            }
        if isinstance(value, np.ndarray | np.generic):
            return self._numpy(value, where)
        msg = f"{where} is a {kind.__module__}.{kind.__qualname__}: not plain data"
        raise TypeError(msg)

    def _numpy(self, value: Any, where: str) -> Any:  # noqa: ANN401
        if value.dtype.kind not in KINDS or type(value) is np.memmap:
            msg = f"{where} has values of type {value.dtype}: not plain data"
            raise TypeError(msg)
        if isinstance(value, np.generic):
            return _scalar("scalar", value.dtype, value)
        place = self._places.get(id(value))
        if place is None:
            place = self._places[id(value)] = self._place(value)
            self._kept.append(value)
        return {"array": place}

    def _place(self, array: Array) -> int:
        """Return the place of an array with this content, which may be a new one."""
        new = len(self.arrays)
        key = (array.dtype.str, array.shape)
        known = self._alike.get(key)
        if known is None:  # the first of its kind: nothing to compare it with
            self._alike[key] = new
            self.arrays.append(array)
            return new
        if isinstance(known, int):
            known = self._alike[key] = {_digest(self.arrays[known]): known}
        place = known.setdefault(_digest(array), new)
        if place == new:
            self.arrays.append(array)
        return place


def _digest(array: Array) -> bytes:
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return hashlib.sha256(content.data).digest()


def _scalar(tag: str, dtype: Any, value: Any) -> dict[str, Any]:  # noqa: ANN401
    array = np.asarray(value, dtype)
    return {tag: [array.dtype.str, array.tobytes().hex()]}


def unpack(value: Any, arrays: Sequence[Array]) -> Data:  # noqa: ANN401
    """Return the plain data that ``Packer`` packed.

    Raises:
        ValueError: It is none that it could have made.
    """
    if isinstance(value, list):
        return [unpack(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    ((tag, found),) = value.items()
    if tag == "tuple":
        return tuple(unpack(part, arrays) for part in found)
    if tag == "dict":
        return {unpack(k, arrays): unpack(v, arrays) for k, v in found}
    if tag == "array":
        return arrays[found]
    if tag == "scalar":
        return np.frombuffer(bytes.fromhex(found[1]), dtype_of(found[0]))[0]
    if tag == "float":
        return float(np.frombuffer(bytes.fromhex(found[1]), dtype_of(found[0]))[0])
    if tag == "int":
        return int(found, 16)
    if tag == "bytes":
        return bytes.fromhex(found)
    msg = f"unknown kind of data {tag!r}"
    raise ValueError(msg)


def dtype_of(text: str) -> Any:  # noqa: ANN401
    """Return a type of NumPy by its short name.

    Raises:
        ValueError: It is not a type of plain values.
    """
    dtype = np.dtype(text)
    if dtype.kind not in KINDS:
        msg = f"dtype must be one of numbers, times or text, got {text!r}"
        raise ValueError(msg)
    return dtype
