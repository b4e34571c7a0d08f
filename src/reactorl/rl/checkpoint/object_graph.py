# SPDX-License-Identifier: Apache-2.0
"""Which Python objects have a state, and where it is: attributes, slots, classes.

An object is *ordinary* if its whole state is in its attributes. All others are opaque:
some have no state that changes (functions, modules, spaces, locks), the rest may hide
some in an extension (a world of Box2D, a window, an iterator, a socket).
"""

from __future__ import annotations

import sys
import types
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import Space
from gymnasium.envs.registration import EnvSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN: Final = frozenset({bool, int, float, str, bytes, type(None)})
MISSING: Final = object()
"""Assigned to an attribute to remove it."""
_NOT_STATE: Final = (Space, EnvSpec, type)
_CONSTANT: Final = (
    *_NOT_STATE,
    types.ModuleType,
    types.MappingProxyType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    property,
    slice,
    range,
    complex,
    np.dtype,
    np.ufunc,
    np.random.SeedSequence,  # noqa: TID251
)
_OF_THE_MACHINE: Final = frozenset(
    {"logging", "threading", "_thread", "pathlib", "re", "typing", "weakref", "inspect"}
)
"""Modules of the standard library whose objects belong to the process."""
_FOR_RENDERING: Final = frozenset(
    {"Surface", "SurfaceType", "Font", "Clock", "ClockType", "Window", "Renderer"}
)
"""Classes of pygame whose objects are drawn anew for every picture."""
_HANDLES: Final = frozenset({"pybullet_utils.bullet_client.BulletClient"})
"""Classes whose instances are handles of something in an extension: their numbers mean
that in one process only, and a copy of them would disturb it."""
_HEAP_TYPE: Final = 1 << 9
"""CPython's flag of classes that were created at run time."""
_POINTER: Final = 8


def is_ordinary(kind: type) -> bool:
    """Return whether the whole state of instances is in their attributes."""
    # Classes of extensions often have a metaclass of their own.
    has_usual_class = type(kind) is type or isinstance(kind, ABCMeta)
    if not has_usual_class or issubclass(kind, _NOT_STATE):
        return False
    # Classes that SWIG generated are handles, whatever attributes they have.
    if hasattr(kind, "thisown") or any(class_name(b) in _HANDLES for b in kind.__mro__):
        return False
    if not all(b is object or b.__flags__ & _HEAP_TYPE for b in kind.__mro__):
        return False
    # Instances of extension classes are larger than slots, dict and weak references.
    room = object.__basicsize__ + _POINTER * (len(slots(kind)) + 2)
    # Loggers, threads and paths belong to the machine.
    return kind.__basicsize__ <= room and _package(kind) not in sys.stdlib_module_names


def may_hide_state(value: object) -> bool:
    """Return whether an object that is not ordinary may have a state that changes."""
    if isinstance(value, _CONSTANT) or callable(value):
        return False
    kind = type(value)
    if _package(kind) == "pygame" and kind.__name__ in _FOR_RENDERING:
        return False
    return _package(kind) not in _OF_THE_MACHINE


def slots(kind: type) -> tuple[str, ...]:
    """Return the names of a class's slots, with private names mangled."""
    found = []
    for base in kind.__mro__:
        own = base.__dict__.get("__slots__", ())
        for name in (own,) if isinstance(own, str) else own:
            hidden = name.startswith("__") and not name.endswith("__")
            if name not in ("__dict__", "__weakref__"):
                found.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return tuple(found)


def attributes(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield the names and values of attributes."""
    yield from list(getattr(value, "__dict__", {}).items())
    for name in slots(type(value)):
        if hasattr(value, name):
            yield name, getattr(value, name)


def assign(owner: Any, name: str, value: Any) -> None:  # noqa: ANN401
    """Set an attribute without ``__setattr__``; ``MISSING`` removes it."""
    if name not in slots(type(owner)):
        if value is MISSING:
            del owner.__dict__[name]
        else:
            owner.__dict__[name] = value
    elif value is MISSING:
        object.__delattr__(owner, name)
    else:
        object.__setattr__(owner, name, value)


def class_name(kind: type) -> str:
    """Return the module and name of a class; classes of SWIG may have no module."""
    return f"{getattr(kind, '__module__', '')}.{kind.__qualname__}"


def _package(kind: type) -> str:
    return class_name(kind).partition(".")[0]
