# SPDX-License-Identifier: Apache-2.0
"""The state of an environment as plain data, as far as it is in Python objects.

An environment is a graph of objects: wrappers around a core, a world with its bodies.
The numbers, strings, arrays, containers and random generators in their attributes are
the state; an object that is referenced twice is stored once, so that it stays one
object. Spaces, functions, windows and other values that are not plain are not stored:
the state is put into a new environment, which has its own.

A value is itself, or a tuple: ``("node", k)`` for an object with an identity,
``("tuple", [...])``, ``("named", class, [...])``, ``("enum", class, name)``. Classes
are stored by name, and only those that the new environment itself uses can be restored:
nothing is imported because of the content of a checkpoint.
"""

from __future__ import annotations

import random  # noqa: TID251 - environments have generators of its kind
import sys
from abc import ABCMeta
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import Space
from gymnasium.envs.registration import EnvSpec

from reactorl.rl.checkpoint.codec import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.rl.checkpoint.registry import Data

_PLAIN: Final = frozenset({bool, int, float, str, bytes, type(None)})
_NOT_STATE: Final = (Space, EnvSpec, type)
_OPAQUE: Final = object()
_HEAP_TYPE: Final = 1 << 9
"""CPython's flag of classes that were created at run time."""
_POINTER: Final = 8


def saved_env(env: Any) -> Data:  # noqa: ANN401
    """Return the state of an environment."""
    saver = _Saver()
    saver.flatten(env)
    return saver.nodes


def restore_env(env: Any, saved: Data) -> None:  # noqa: ANN401
    """Restore a state in an environment of the same kind, which has been reset.

    Raises:
        ValueError: It is of another kind, or an object of the state cannot be created.
    """
    if saved[0] is not None:  # None: nothing of it is plain
        _Restorer(env, saved).unflatten(("node", 0), env, type(env).__qualname__)


class _Saver:
    """Walks through an environment; ``nodes`` are the objects with an identity."""

    def __init__(self) -> None:
        self.nodes: list[Data] = []
        self._places: dict[int, int | None] = {}
        self._alive: list[Any] = []  # so that no other object gets their ids

    def flatten(self, value: Any) -> Any:  # noqa: ANN401
        """Return a value as plain data, ``_OPAQUE`` if that is impossible."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, np.generic):
            return value if value.dtype.kind in KINDS else _OPAQUE
        if isinstance(value, Enum):
            return ("enum", _name(kind), value.name)
        if isinstance(value, tuple):
            parts = self._all(value)
            if parts is None or (kind is not tuple and not hasattr(kind, "_make")):
                return _OPAQUE
            return ("tuple", parts) if kind is tuple else ("named", _name(kind), parts)
        if id(value) not in self._places:
            self._alive.append(value)
            place = self._places[id(value)] = len(self.nodes)
            self.nodes.append(None)  # reserved: its content may refer to it
            node = self._node(value, kind)
            if node is None:
                self._places[id(value)] = None
            self.nodes[place] = node
        found = self._places[id(value)]
        return _OPAQUE if found is None else ("node", found)

    def _node(self, value: Any, kind: type) -> Data | None:  # noqa: ANN401
        if isinstance(value, np.ndarray):
            return ("array", value.copy()) if value.dtype.kind in KINDS else None
        if isinstance(value, np.random.Generator):  # noqa: TID251
            return ("generator", value.bit_generator.state)
        if isinstance(value, np.random.RandomState):  # noqa: TID251
            return ("generator", value.get_state(legacy=False))
        if isinstance(value, random.Random):
            return ("random", value.getstate())
        if kind is list or kind is deque:
            parts = self._all(value)
            return None if parts is None else (kind.__name__, parts)
        if kind is set or kind is frozenset:
            # The order of a set of these is arbitrary anyway.
            parts = self._all(sorted(value, key=lambda v: (type(v).__name__, repr(v))))
            return None if parts is None else (kind.__name__, parts)
        if isinstance(value, dict):
            keys, values = self._all(value), self._all(value.values())
            if keys is None or values is None:
                return None
            return ("dict", _name(kind), keys, values)
        return self._object(value, kind) if _is_ordinary(kind) else None

    def _object(self, value: Any, kind: type) -> Data | None:  # noqa: ANN401
        known, opaque = {}, []
        for name, held in _attributes(value):
            plain = self.flatten(held)
            if plain is _OPAQUE:
                opaque.append(name)
            else:
                known[name] = plain
        if opaque and not known:
            return None  # a handle of an object in an extension, e.g. a body of Box2D
        return ("object", _name(kind), known, opaque)

    def _all(self, values: Any) -> list[Data] | None:  # noqa: ANN401
        parts = [self.flatten(part) for part in values]
        return None if any(part is _OPAQUE for part in parts) else parts


class _Restorer:
    """Restores plain data into an environment.

    Objects and generators that are at the same place as before are changed in place,
    because values that are not plain may refer to them. Containers and arrays are
    created, because those of the new environment may be shared constants.
    """

    def __init__(self, env: Any, nodes: list[Data]) -> None:  # noqa: ANN401
        self._nodes = nodes
        self._made: dict[int, Any] = {}
        self._taken: set[int] = set()
        self._classes: dict[str, type] = {}
        self._met: list[Any] = []  # so that no other object gets their ids
        self._meet(env, set())

    def _meet(self, value: Any, seen: set[int]) -> None:  # noqa: ANN401
        """Collect the classes that the new environment uses."""
        if type(value) in _PLAIN or id(value) in seen:
            return
        seen.add(id(value))
        self._met.append(value)
        kind = type(value)
        parts: Any = ()
        if isinstance(value, dict):
            parts = (*value, *value.values())
        elif isinstance(value, list | tuple | deque | set | frozenset):
            parts = value
        elif _is_ordinary(kind):
            parts = [held for _, held in _attributes(value)]
        elif not isinstance(value, Enum):
            return
        self._classes[_name(kind)] = kind
        for part in parts:
            self._meet(part, seen)

    def unflatten(self, data: Data, held: Any, where: str) -> Any:  # noqa: ANN401
        """Return the value of plain data.

        Args:
            data: From ``_Saver.flatten``.
            held: The value at the same place of the new environment.
            where: Its name in an error.
        """
        if not isinstance(data, tuple):
            return data
        kind, *rest = data
        if kind == "node":
            place = rest[0]
            if place not in self._made:
                self._restore_node(place, held, where)
            return self._made[place]
        if kind == "enum":
            return self._class(rest[0], where)[rest[1]]
        parts = self._parts(rest[-1], held, where)
        return tuple(parts) if kind == "tuple" else self._class(rest[0], where)(*parts)

    def _restore_node(self, place: int, held: Any, where: str) -> None:  # noqa: ANN401
        kind, *rest = self._nodes[place]
        if id(held) in self._taken:
            held = None  # used for another object already
        if kind == "array":
            self._made[place] = rest[0].copy()
        elif kind == "generator":
            self._made[place] = self._generator(rest[0], held)
        elif kind == "random":
            known = isinstance(held, random.Random)
            made = self._made[place] = held if known else random.Random()
            made.setstate(rest[0])
            self._taken.add(id(made))
        elif kind == "list":
            made = self._made[place] = []  # before its content, which may refer to it
            made.extend(self._parts(rest[0], held, where))
        elif kind == "deque":
            length = held.maxlen if isinstance(held, deque) else None
            self._made[place] = deque(self._parts(rest[0], held, where), length)
        elif kind in ("set", "frozenset"):
            cls = set if kind == "set" else frozenset
            self._made[place] = cls(self._parts(rest[0], None, where))
        elif kind == "dict":
            self._dict(place, rest, held, where)
        else:
            self._object(place, rest, held, where)

    def _parts(self, parts: list[Data], held: Any, where: str) -> list[Any]:  # noqa: ANN401
        there = list(held) if isinstance(held, list | tuple | deque) else []
        there += [None] * (len(parts) - len(there))
        return [
            self.unflatten(part, there[k], f"{where}[{k}]")
            for k, part in enumerate(parts)
        ]

    def _generator(self, state: Data, held: Any) -> Any:  # noqa: ANN401
        if isinstance(held, np.random.RandomState):  # noqa: TID251
            held.set_state(state)
            return held
        name = state["bit_generator"]
        if (
            not isinstance(held, np.random.Generator)  # noqa: TID251
            or type(held.bit_generator).__name__ != name
        ):
            known = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
            if name not in known:
                msg = f"there is no random generator {name!r}"
                raise ValueError(msg)
            held = np.random.Generator(getattr(np.random, name)())  # noqa: TID251
        held.bit_generator.state = state
        self._taken.add(id(held))
        return held

    def _dict(self, place: int, rest: list[Any], held: Any, where: str) -> None:  # noqa: ANN401
        name, keys, values = rest
        cls = dict if name == _name(dict) else self._class(name, where)
        there = held if isinstance(held, dict) else {}
        if cls is dict:
            made = self._made[place] = {}
        else:  # a subclass may have more than entries, e.g. a default
            made = self._made[place] = held.copy() if type(held) is cls else cls()
            made.clear()
        for key, value in zip(keys, values, strict=True):
            found = self.unflatten(key, None, f"{where}, a key")
            made[found] = self.unflatten(value, there.get(found), f"{where}[{found!r}]")

    def _object(self, place: int, rest: list[Any], held: Any, where: str) -> None:  # noqa: ANN401
        name, known, opaque = rest
        if held is None or _name(type(held)) != name:
            if place == 0:
                msg = f"the environment was a {name} and is a {_name(type(held))}"
                raise ValueError(msg)
            cls = self._class(name, where)
            if opaque:
                lacks = ", ".join(opaque)
                msg = f"{where} cannot be made anew: {lacks} of {name} is not plain"
                raise ValueError(msg)
            held = object.__new__(cls)
        self._made[place] = held
        self._taken.add(id(held))
        there = dict(_attributes(held))
        for attribute in there:
            if attribute not in known and attribute not in opaque:
                _assign(held, attribute, _OPAQUE)
        for attribute, value in known.items():
            inner = f"{where}.{attribute}"
            found = self.unflatten(value, there.get(attribute), inner)
            _assign(held, attribute, found)

    def _class(self, name: str, where: str) -> Any:  # noqa: ANN401
        try:
            return self._classes[name]
        except KeyError:
            msg = f"{where} was a {name}, and the new environment has none"
            raise ValueError(msg) from None


def _is_ordinary(kind: type) -> bool:
    """Whether the whole state of instances is in their attributes."""
    # Classes of extensions often have a metaclass of their own.
    has_usual_class = type(kind) is type or isinstance(kind, ABCMeta)
    if not has_usual_class or issubclass(kind, _NOT_STATE):
        return False
    if not all(b is object or b.__flags__ & _HEAP_TYPE for b in kind.__mro__):
        return False
    # Instances of extension classes are larger than slots, dict and weak references.
    room = object.__basicsize__ + _POINTER * (len(_slots(kind)) + 2)
    # Loggers, threads and paths belong to the machine.
    top = kind.__module__.partition(".")[0]
    return kind.__basicsize__ <= room and top not in sys.stdlib_module_names


def _slots(kind: type) -> tuple[str, ...]:
    """Return the names of a class's slots, with private names mangled."""
    found = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            hidden = name.startswith("__") and not name.endswith("__")
            if name not in ("__dict__", "__weakref__"):
                found.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return tuple(found)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield the names and values of attributes."""
    yield from getattr(value, "__dict__", {}).items()
    for name in _slots(type(value)):
        if hasattr(value, name):
            yield name, getattr(value, name)


def _assign(owner: Any, name: str, value: Any) -> None:  # noqa: ANN401
    """Set an attribute without ``__setattr__``; ``_OPAQUE`` removes it."""
    if name not in _slots(type(owner)):
        if value is _OPAQUE:
            del owner.__dict__[name]
        else:
            owner.__dict__[name] = value
    elif value is _OPAQUE:
        object.__delattr__(owner, name)
    else:
        object.__setattr__(owner, name, value)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
