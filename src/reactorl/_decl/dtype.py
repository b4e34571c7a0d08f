# SPDX-License-Identifier: Apache-2.0
"""Data types of ports and actions that native bodies can use.

Their values are plain data of a fixed size, which the core stores itself. Python reads
them as numbers, read-only NumPy arrays, bytes or ctypes structures, and may send these
and nothing else, so that a body in Python and one in C see the same values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reactorl.errors import DeclarationError
from reactorl.position import here

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Iterator

    from reactorl.position import Position

    DTypeLike: TypeAlias = str | type[ctypes.Structure]

# As in reactorl.h.
_KINDS: Final = (
    "none",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "bytes",
)
_SIZES: Final = (0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1)
_TEXT: Final = re.compile(r"([a-z]+\d*)(?:\[\s*(\d+(?:\s*,\s*\d+)*)\s*\])?")
_LARGEST: Final = 1 << 31
_REMEDY: Final = (
    'Write for example "int64", "float64[4]", "uint8[84, 84]", "bytes[24]", or "none"; '
    "or give a subclass of ctypes.Structure."
)


@dataclass(frozen=True)
class DType:
    """A data type of fixed size.

    Attributes:
        kind: Index into the kinds of ``reactorl.h``.
        shape: The shape of an array, the length of bytes; empty for a single number.
        struct: The structure as which bytes are shown, if any.
    """

    kind: int
    shape: tuple[int, ...] = ()
    struct: type[ctypes.Structure] | None = None

    @property
    def code(self) -> int:
        """The type as ``REACTORL_TYPE`` of ``reactorl.h`` makes it."""
        return self.kind | (prod(self.shape) << 8 if self.shape else 0)

    @property
    def is_number(self) -> bool:
        """Whether it is a single number, or nothing."""
        return not self.shape

    @property
    def size(self) -> int:
        """The size of a value in bytes."""
        return _SIZES[self.kind] * prod(self.shape)

    def __str__(self) -> str:
        """Return the type as it is written in Python."""
        if self.struct is not None:
            return self.struct.__qualname__
        extent = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        return f"{_KINDS[self.kind]}{extent}"

    @property
    def native(self) -> str:
        """The type as native bodies see it, in their signature."""
        extent = f"[{prod(self.shape)}]" if self.shape else ""
        return f"{_KINDS[self.kind]}{extent}"

    @property
    def described(self) -> str:
        """What Python has to send, for messages."""
        name = _KINDS[self.kind]
        if self.struct is not None:
            return f"{self}, an object of this class"
        if name == "bytes":
            return f"{self}, bytes of length {self.shape[0]}"
        if self.shape:
            return f"{self}, a NumPy array of {name} with shape {self.shape}"
        if name == "none":
            return "none, which is None"
        kind = {"b": "bool", "f": "float"}.get(name[0], "int")
        return f"{self}, a Python {kind}"

    # -- values that are not single numbers ------------------------------------------

    @cached_property
    def value_class(self) -> type:
        """The class of values in Python."""
        if self.struct is not None:
            return self.struct
        if _KINDS[self.kind] == "bytes":
            return bytes
        import numpy

        return numpy.ndarray

    def unpack(self, data: bytes) -> Any:  # noqa: ANN401
        """Return the value whose bytes are ``data``."""
        if self.struct is not None:
            return self.struct.from_buffer_copy(data)
        if _KINDS[self.kind] == "bytes":
            return data
        import numpy

        return numpy.frombuffer(data, _KINDS[self.kind]).reshape(self.shape)

    def pack(self, value: Any) -> bytes | None:  # noqa: ANN401
        """Return the bytes of ``value``; None if it is of another type."""
        kind: type = type(value)
        if kind is not self.value_class:
            return None
        if self.struct is not None or _KINDS[self.kind] == "bytes":
            return bytes(value)
        if value.dtype != _KINDS[self.kind] or value.shape != self.shape:
            return None
        return bytes(value.tobytes())


def parse(spec: object, where: Position) -> DType:
    """Return the data type that ``spec`` stands for.

    Raises:
        DeclarationError: It stands for none.
    """
    import ctypes

    if isinstance(spec, DType):
        return spec
    if isinstance(spec, type) and issubclass(spec, ctypes.Structure):
        return DType(_KINDS.index("bytes"), (ctypes.sizeof(spec),), spec)
    found = _parse_text(spec) if isinstance(spec, str) else None
    if found is None:
        msg = f"dtype must be the name of a data type, got {spec!r}"
        raise DeclarationError(msg, where, _REMEDY)
    return found


def dtype_of(spec: DTypeLike | None) -> DType | None:
    """Return the data type of a declaration, which is at the caller's position."""
    return None if spec is None else parse(spec, here())


def _parse_text(text: str) -> DType | None:
    match = _TEXT.fullmatch(text.strip())
    if match is None or match[1] not in _KINDS:
        return None
    kind = _KINDS.index(match[1])
    shape = tuple(int(n) for n in (match[2] or "").split(",") if n.strip())
    is_bytes = match[1] == "bytes"
    bad = (
        (is_bytes and len(shape) != 1)
        or (match[1] == "none" and shape)
        or (shape and not 0 < prod(shape) * _SIZES[kind] < _LARGEST)
    )
    return None if bad else DType(kind, shape)


# -- signatures of native bodies ------------------------------------------------------

MODE: Final = "mode"


def parse_signature(text: str) -> tuple[list[str], list[str]] | None:
    """Return the types of inputs and effects in a native body's signature.

    They are in the form of ``DType.native``, or ``mode``. None: it is something else.
    """
    inputs, arrow, effects = text.partition("->")
    if not arrow:
        return None
    try:
        return list(_types(inputs)), list(_types(effects))
    except ValueError:
        return None


def _types(text: str) -> Iterator[str]:
    if not text.strip():
        return
    # A comma inside of brackets separates dimensions.
    for part in re.split(r",(?![^\[]*\])", text):
        if part.strip() == MODE:
            yield MODE
            continue
        found = _parse_text(part)
        if found is None:
            raise ValueError(part)
        yield found.native
