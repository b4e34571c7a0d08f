# SPDX-License-Identifier: Apache-2.0
"""Native bodies and native state: functions and data that a library exports.

``reactorl.h`` describes what a library has to export. What can be checked is checked
when the reaction is declared: the library, the symbol, and the version of the interface
that it was compiled for.
"""

from __future__ import annotations

import copy
import ctypes
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reactorl._decl.dtype import parse_signature
from reactorl._decl.state import State
from reactorl.errors import DeclarationError, ReactorlError
from reactorl.position import here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl._decl.reactor import Reactor
    from reactorl.position import Position

ABI: Final = 1
"""The version of the interface; ``REACTORL_ABI`` of ``reactorl.h``."""

CAPSULE: Final = b"reactorl.body"
"""The name of capsules that point to a ``reactorl_body``."""


def get_include() -> str:
    """Return the directory that contains ``reactorl.h``, for ``gcc -I``."""
    core = find_spec("reactorl._core")
    if core is None or core.origin is None:
        msg = "the package is not installed: it has no compiled core"
        raise ReactorlError(msg, None, "Install it: pip install reactorl.")
    return str(Path(core.origin).parent / "include")


# -- what libraries export, as in reactorl.h ------------------------------------------


class _Body(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("signature", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
    )


class _Param(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("is_integer", ctypes.c_bool),
        ("integer", ctypes.c_int64),
        ("number", ctypes.c_double),
    )


class _Setup(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reactor", ctypes.c_char_p),
        ("seed", ctypes.c_uint64),
        ("bank_index", ctypes.c_int64),
        ("params", ctypes.POINTER(_Param)),
        ("param_count", ctypes.c_uint32),
        ("message", ctypes.c_char * 256),
    )


_Init = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Setup))
_Destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Save = ctypes.CFUNCTYPE(
    ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64
)
_Load = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64
)


class _State(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("state_size", ctypes.c_uint64),
        ("init", _Init),
        ("destroy", _Destroy),
        ("save", _Save),
        ("load", _Load),
    )


_REBUILD: Final = (
    "Compile it with the header of this version of the package: "
    'gcc -I "$(python -c "import reactorl; print(reactorl.get_include())")".'
)


def _loaded(library: str | os.PathLike[str], where: Position) -> ctypes.CDLL:
    name = os.fspath(library)
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        msg = f"loading the library {name} failed: {error}"
        raise DeclarationError(
            msg,
            where,
            "Compile it for this machine and give its path, for example "
            'Path(__file__).with_name("libmine.so").',
        ) from error


def _exported(
    library: str | os.PathLike[str], symbol: str, kind: type[Any], where: Position
) -> tuple[Any, ctypes.CDLL]:
    """Return the description that a library exports as ``symbol``, and the library."""
    macro = "REACTORL_BODY" if kind is _Body else "REACTORL_STATE"
    handle = _loaded(library, where)
    try:
        found = kind.in_dll(handle, symbol)
    except ValueError:
        msg = f"{os.fspath(library)} does not export {symbol!r}"
        raise DeclarationError(msg, where, f"Define it with {macro}.") from None
    _check_abi(found, kind, f"{symbol} of {os.fspath(library)}", where)
    return found, handle


def _check_abi(found: Any, kind: type[Any], name: str, where: Position) -> None:  # noqa: ANN401
    if found.abi != ABI:
        msg = f"ABI version of {name} must be {ABI}, got {found.abi}"
        raise DeclarationError(msg, where, _REBUILD)
    if found.size < ctypes.sizeof(kind):
        msg = f"{name} must have {ctypes.sizeof(kind)} bytes, got {found.size}"
        raise DeclarationError(msg, where, _REBUILD)


# -- bodies ---------------------------------------------------------------------------


class NativeBody:
    """A function outside of Python that is the body of a reaction.

    Attributes:
        function: Its address.
        signature: The types of its inputs and effects, as it was compiled.
        source: Where it is from, for messages.
        state: The declaration of the native state that it gets, if any.
        where: Where it was declared.
    """

    def __init__(
        self,
        function: int,
        signature: str,
        source: str,
        state: State | None,
        where: Position,
        keep: object,
    ) -> None:
        self.function = function
        self.signature = signature
        self.source = source
        self.state = state
        self.where = where
        self._keep = keep  # lives as long as the function, such as its library

    def named(self, module: str, qualname: str) -> NativeBody:
        """Return the same body under the name that a method in its place would have.

        So the digest of a program does not depend on the language of its bodies.
        """
        made = copy.copy(self)
        made.__module__ = module
        made.__dict__["__qualname__"] = qualname
        return made

    def __repr__(self) -> str:
        return f"<native body {self.source}>"


def native(
    source: Any,  # noqa: ANN401
    symbol: str | None = None,
    *,
    state: NativeState | None = None,
    signature: str | None = None,
) -> NativeBody:
    """Return a native body for ``reaction``: a C function instead of a method.

    ``step = reaction(action, effects=[obs])(native("libenv.so", "step"))``

    It runs on a worker that is not attached to the interpreter, in parallel with other
    bodies also where there is a GIL. See the page about native bodies, and
    ``reactorl.h`` in ``get_include()``.

    Args:
        source: The path of a library that exports ``symbol`` by ``REACTORL_BODY``; a
            capsule named ``reactorl.body`` that points to a ``reactorl_body``; or the
            address of a ``reactorl_function``, as an int or a ctypes function pointer.
        symbol: What the library exports.
        state: The native state of the reactor that the function gets: what
            ``native_state`` returned in the same class.
        signature: The types of inputs and effects, ``"int64 -> float64[4]"``; needed
            for addresses, and known for others.

    Raises:
        DeclarationError: The library cannot be loaded, does not export the symbol, was
            compiled for another version of the interface, or has no legal signature.
    """
    where = here()
    kept: object = source
    if state is not None and not isinstance(state, State):
        msg = f"state must be what native_state() returned, got {state!r}"
        raise DeclarationError(
            msg, where, "Write memory = native_state(...) in the class body first."
        )
    if isinstance(source, str | os.PathLike):
        if symbol is None:
            msg = "native() of a library needs the name of what it exports"
            raise DeclarationError(msg, where, 'Write native("libenv.so", "step").')
        found, kept = _exported(source, symbol, _Body, where)
        name = f"{symbol} of {os.fspath(source)}"
        function, compiled = found.function, found.signature
    elif type(source).__name__ == "PyCapsule":
        name = "the capsule"
        found = _in_capsule(source, where)
        _check_abi(found, _Body, name, where)
        function, compiled = found.function, found.signature
    else:
        function, compiled = _address(source, where), None
        name = f"the function at {function:#x}"
    text = signature if compiled is None else compiled.decode("utf-8", "replace")
    if text is None:
        msg = f"{name} has no signature"
        raise DeclarationError(
            msg, where, 'Write native(address, signature="int64 -> float64[4]").'
        )
    if parse_signature(text) is None:
        msg = f"signature of {name} must be a list of types, got {text!r}"
        raise DeclarationError(
            msg,
            where,
            'It lists inputs, an arrow, and effects: "int64, bytes[4] -> bool, mode".',
        )
    if not function:
        msg = f"{name} has no function"
        raise DeclarationError(msg, where, "Define it with REACTORL_BODY.")
    declared: Any = state
    return NativeBody(function, text, name, declared, where, kept)


def _in_capsule(capsule: object, where: Position) -> Any:  # noqa: ANN401
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    try:
        pointer = api.PyCapsule_GetPointer(capsule, CAPSULE)
    except ValueError:
        msg = f"a capsule must be named {CAPSULE.decode()}, got {capsule!r}"
        raise DeclarationError(
            msg, where, "Let it point to a reactorl_body, and give it this name."
        ) from None
    return _Body.from_address(pointer)


def _address(source: object, where: Position) -> int:
    if isinstance(source, int) and not isinstance(source, bool) and source > 0:
        return source
    if isinstance(source, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return ctypes.cast(source, ctypes.c_void_p).value or 0
    msg = f"a native body must be in a library, a capsule or an address, got {source!r}"
    raise DeclarationError(msg, where, 'Write native("libenv.so", "step").')


# -- state ----------------------------------------------------------------------------


class NativeState:
    """The native state of a running reactor: memory that its native bodies share.

    Bodies in Python of the same reactor may save and load it; others must not, because
    native bodies may be using it. Outside of a run it has no memory.
    """

    def __init__(self, description: _State, name: str, where: Position) -> None:
        self._description = description
        self._name = name
        self._where = where
        size = int(description.state_size)
        # Aligned for any type of C.
        self._memory = ctypes.create_string_buffer(size + 64)
        at = ctypes.addressof(self._memory)
        self._address = at + -at % 64
        self._size = size
        self._alive = False

    def _init(self, setup: _Setup) -> None:
        init = self._description.init
        code = init(self._address, ctypes.byref(setup)) if init else 0
        if code:
            text = setup.message.decode("utf-8", "replace")
            why = f"code {code}" + (f", {text}" if text else "")
            self._fail(f"init of {self._name} for {setup.reactor.decode()}", why)
        self._alive = True

    def _fail(self, what: str, why: str) -> None:
        msg = f"{what} failed: {why}"
        raise ReactorlError(msg, self._where)

    @property
    def address(self) -> int:
        """Where the memory is, for use with ctypes."""
        return self._address

    @property
    def size(self) -> int:
        """The size of the memory in bytes."""
        return self._size

    def save(self) -> bytes:
        """Return the state as bytes: what the library's ``save`` writes, or the memory.

        Raises:
            ReactorlError: The run has ended.
        """
        self._check_alive("save")
        save = self._description.save
        if not save:
            return ctypes.string_at(self._address, self._size)
        size = int(save(self._address, None, 0))
        buffer = ctypes.create_string_buffer(max(size, 1))
        if int(save(self._address, buffer, size)) != size:
            self._fail(f"save of {self._name}", "its size changed meanwhile")
        return buffer.raw[:size]

    def load(self, saved: bytes) -> None:
        """Replace the state by one that ``save`` returned.

        Raises:
            ReactorlError: The library refuses it, or it has another size, or the run
                has ended.
        """
        self._check_alive("load")
        load = self._description.load
        if load:
            code = load(self._address, saved, len(saved))
            if code:
                self._fail(f"load of {self._name}", f"code {code}")
        elif len(saved) != self._size:
            msg = f"a saved {self._name} must have {self._size} bytes, got {len(saved)}"
            raise ReactorlError(
                msg, self._where, "Load what save() returned, with the same library."
            )
        else:
            ctypes.memmove(self._address, saved, len(saved))

    def _check_alive(self, what: str) -> None:
        if not self._alive:
            msg = f"{what} of {self._name} failed: the run has ended"
            raise ReactorlError(
                msg, self._where, "Save in a reaction, or between steps."
            )

    def _end(self) -> None:
        """Destroy the state; a second call does nothing."""
        if self._alive:
            self._alive = False
            if self._description.destroy:
                self._description.destroy(self._address)


def native_state(library: str | os.PathLike[str], symbol: str) -> NativeState:
    """Declare the native state of a reactor, which its native bodies share.

    ``memory = native_state("libenv.so", "pole")``, then
    ``native("libenv.so", "step", state=memory)``

    Each instance gets memory of its own, made by the library's ``init`` before
    ``setup()`` and destroyed after ``teardown()``. In the reactor it is a
    ``NativeState``.

    Args:
        library: The path of the library.
        symbol: What it exports by ``REACTORL_STATE``.

    Raises:
        DeclarationError: The library cannot be loaded, does not export the symbol, or
            was compiled for another version of the interface.
    """
    where = here()
    found, handle = _exported(library, symbol, _State, where)
    name = f"{symbol} of {os.fspath(library)}"

    def make(instance: Reactor) -> NativeState:
        made = NativeState(found, name, where)
        made._init(_setup(instance))
        return made

    make.__dict__["keep"] = handle
    declared: Any = State(None, make, reset=False, native=True)
    return declared  # type: ignore[no-any-return]


def _setup(instance: Reactor) -> _Setup:
    node = instance._node
    params = _numbers(node.params)
    array = (_Param * max(len(params), 1))(*params)
    return _Setup(
        size=ctypes.sizeof(_Setup),
        reactor=node.path.encode(),
        seed=instance.seed & (2**64 - 1),
        bank_index=node.bank_index or 0,
        params=array,
        param_count=len(params),
    )


def _numbers(params: Mapping[str, object]) -> list[_Param]:
    numbers = []
    for name, value in params.items():
        if isinstance(value, int):
            if -(2**63) <= value < 2**63:
                integer = {"is_integer": True, "integer": value}
                numbers.append(_Param(name.encode(), number=float(value), **integer))
        elif isinstance(value, float):
            numbers.append(_Param(name.encode(), number=value))
    return numbers
