# SPDX-License-Identifier: Apache-2.0
"""Values as bytes: pickle protocol 5, with the memory of arrays beside the pickle.

Arrays are sent from their own memory and received into memory that is aligned for
vector instructions and read-only. JAX arrays arrive as NumPy arrays. Names of
``__main__`` are sent by value, names of other modules by reference: every federate
imports, or elaborates, the same modules.

Deserializing can execute code, so bytes come here only from peers that have passed
the handshake.
"""

from __future__ import annotations

import copyreg
import functools
import io
import pickle
import sys
import threading
from ctypes import addressof, c_char
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reactorl._federation.link_errors import CodecError
from reactorl._util.serialization import names_main

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

ALIGNMENT: Final = 64
"""Bytes; a cache line, and the widest vector register."""

_PROTOCOL: Final = 5
_SCALARS: Final = frozenset({type(None), bool, int, float, str, bytes})
_RAW_KINDS: Final = "VmM"
_KINDS: Final = "biufcSUVmM"  # of dtypes whose arrays are memory without references
_FILLED_BYTES: Final = 1 << 14  # for fewer bytes, zeros cost less than NumPy's array


class _Thread(threading.local):
    """Whether the thread makes arrays that can be changed; objects have no buffers."""

    writable = False


_thread: Final = _Thread()


class Payload(NamedTuple):
    """A serialized value."""

    data: bytes
    """The pickle."""
    buffers: tuple[memoryview, ...] = ()
    """Memory that the pickle refers to, in order. Must not change until it is sent."""

    @property
    def size(self) -> int:
        """Bytes in all."""
        return len(self.data) + sum(buffer.nbytes for buffer in self.buffers)


def encode(value: object) -> Payload:
    """Return a value as bytes. Memory that can be written to is copied, once.

    Raises:
        CodecError: The value, or something in it, cannot be pickled.
    """
    if type(value) in _SCALARS:
        return Payload(pickle.dumps(value, _PROTOCOL))
    buffers: list[pickle.PickleBuffer] = []
    try:
        try:
            data = _dumps(value, buffers.append)
            again = names_main(data)
        except Exception:
            again = True
        if again:
            buffers.clear()
            data = _dumps_by_value(value, buffers.append)
    except Exception as error:
        msg = f"serializing a value of type {type(value).__qualname__} failed: "
        remedy = "Send values that pickle can save, such as arrays and dataclasses."
        raise CodecError(msg + _text(error), remedy) from error
    return Payload(data, tuple(_frozen(buffer) for buffer in buffers))


def decode(
    data: bytes | bytearray | memoryview,
    buffers: Sequence[memoryview] = (),
    *,
    writable: bool = False,
) -> Any:  # noqa: ANN401
    """Return the value. Arrays share the memory of ``buffers``.

    Args:
        data: The pickle.
        buffers: The memory beside it.
        writable: Whether arrays can be changed; else they are read-only.

    Raises:
        CodecError: The value cannot be made here, because a module is missing, say.
    """
    try:
        # Of a bare memoryview NumPy would take the memory behind it, which is writable.
        received = [
            pickle.PickleBuffer(each if writable else each.toreadonly())
            for each in buffers
        ]
        _thread.writable = writable
        return pickle.loads(data, buffers=received)
    except Exception as error:
        msg = f"deserializing a received value failed: {_text(error)}"
        remedy = "All federates need the same modules and versions of packages."
        raise CodecError(msg, remedy) from error


def allocate(size: int) -> memoryview:
    """Return writable memory at a multiple of ``ALIGNMENT``.

    Large memory is not touched: until it is filled, it exists as address space only.
    """
    if size < _FILLED_BYTES:
        room = memoryview(bytearray(size + ALIGNMENT))
    elif (numpy := sys.modules.get("numpy")) is not None:
        # Reuses memory that was freed, whose pages exist.
        room = numpy.empty(size + ALIGNMENT, numpy.uint8).data
    else:
        import mmap

        return memoryview(mmap.mmap(-1, size))  # begins at a page
    start = -addressof(c_char.from_buffer(room)) % ALIGNMENT
    return room[start : start + size]


def _dumps(value: object, keep: Callable[[pickle.PickleBuffer], object]) -> bytes:
    file = io.BytesIO()
    pickler = pickle.Pickler(file, _PROTOCOL, buffer_callback=keep)
    pickler.dispatch_table = _REDUCERS  # type: ignore[assignment]
    pickler.dump(value)
    return file.getvalue()


def _dumps_by_value(
    value: object, keep: Callable[[pickle.PickleBuffer], object]
) -> bytes:
    file = io.BytesIO()
    _pickler_by_value()(file, _PROTOCOL, buffer_callback=keep).dump(value)
    return file.getvalue()


@functools.cache
def _pickler_by_value() -> Any:  # noqa: ANN401
    import cloudpickle

    reducers = _Reducers(cloudpickle.Pickler.dispatch_table)
    # The attribute counts when the object is made, and must be that of the class.
    return type("Pickler", (cloudpickle.Pickler,), {"dispatch_table": reducers})


def _frozen(buffer: pickle.PickleBuffer) -> memoryview:
    memory = buffer.raw()
    # A link may hold the bytes until they are sent again, to a new life of the peer.
    return memory if memory.readonly else memoryview(bytes(memory))


class _Reducers:
    """How arrays are pickled. A mapping for ``Pickler.dispatch_table``."""

    def __init__(self, others: Any) -> None:  # noqa: ANN401
        self._others = others

    def __getitem__(self, kind: type) -> Callable[[Any], Any]:
        module = kind.__module__
        if module == "numpy":
            if kind is sys.modules["numpy"].ndarray:
                return _reduce_array
        elif module.startswith(("jax.", "jaxlib.", "jax._src")):
            jax = sys.modules.get("jax")
            if jax is not None and issubclass(kind, jax.Array):
                return _reduce_jax
        found: Callable[[Any], Any] = self._others[kind]
        return found


_REDUCERS: Final = _Reducers(copyreg.dispatch_table)


def _reduce_array(array: np.ndarray[Any, Any]) -> Any:  # noqa: ANN401
    dtype = array.dtype
    if dtype.hasobject or dtype.kind not in _KINDS:
        parts: Any = array.__reduce__()
        return *parts, None, None, _set_state
    if not dtype.itemsize:
        return _empty, (array.shape, dtype)
    if dtype.isbuiltin == 2 or dtype.kind in _RAW_KINDS:
        # Dates, records and types of other packages have no buffer protocol, or not
        # always. Raw memory has.
        raw = f"V{dtype.itemsize}"
        if dtype != raw:
            return _viewed, (array.view(raw), dtype)
    flags = array.flags
    if not flags.forc:
        array = array.copy()
        array.flags.writeable = False  # ours alone: need not be copied again
        flags = array.flags
    order = "C" if flags.c_contiguous else "F"
    memory = pickle.PickleBuffer(array)  # type: ignore[arg-type]  # NumPy's stubs
    return type(array), (array.shape, dtype.str, memory, 0, None, order)


def _reduce_jax(array: Any) -> Any:  # noqa: ANN401
    import numpy as np

    return _reduce_array(np.asarray(array))


def _viewed(array: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    return array.view(dtype)


def _empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    import numpy as np

    array = np.zeros(shape, dtype)
    array.flags.writeable = _thread.writable
    return array


def _set_state(array: np.ndarray[Any, Any], state: Any) -> None:  # noqa: ANN401
    array.__setstate__(state)
    array.flags.writeable = _thread.writable


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
