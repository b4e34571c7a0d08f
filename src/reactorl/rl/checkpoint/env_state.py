# SPDX-License-Identifier: Apache-2.0
"""The state of an environment as plain data, as far as it can be read.

An environment is a graph of objects: wrappers around a core, a world with its bodies.
The numbers, strings, arrays, containers and random generators in their attributes are
the state; an object that is referenced twice is stored once, so that it stays one
object. Simulators that can save their state do so (``native_state``). Spaces, functions
and other constants are not stored: the state is put into a new environment, which has
its own. Whatever else is not plain may hide state, and is reported.

A value is itself, or a tuple: ``("node", k)`` for an object with an identity,
``("tuple", [...])``, ``("named", class, [...])``, ``("enum", class, name)``,
``("own",)`` for a constant of the new environment. Classes are stored by name; see
``env_restore``.
"""

from __future__ import annotations

import random  # noqa: TID251 - environments have generators of its kind
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from reactorl.rl.checkpoint.codec import KINDS
from reactorl.rl.checkpoint.native_state import native_state
from reactorl.rl.checkpoint.object_graph import (
    PLAIN,
    attributes,
    class_name,
    is_ordinary,
    may_hide_state,
)

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data

OWN: Final = ("own",)
"""A constant that is not stored: the new environment has its own."""
_HIDDEN: Final = object()
"""A value that is not stored, and that may have a state."""


class EnvState(NamedTuple):
    """The state of an environment."""

    nodes: Data
    """Plain data."""
    hidden: list[Any]
    """Objects that may have more state."""


def read_state(env: Any) -> EnvState:  # noqa: ANN401
    """Return the state of an environment; reads attributes, and calls nothing of it."""
    saver = _Saver()
    saver.flatten(env)
    return EnvState(saver.nodes, saver.hidden)


def saved_env(env: Any) -> Data:  # noqa: ANN401
    """Return the state of an environment as plain data."""
    return read_state(env).nodes


class _Saver:
    """Walks through an environment; ``nodes`` are the objects with an identity."""

    def __init__(self) -> None:
        self.nodes: list[Data] = []
        self.hidden: list[Any] = []
        self._places: dict[int, Any] = {}
        self._alive: list[Any] = []  # so that no other object gets their ids

    def flatten(self, value: Any) -> Any:  # noqa: ANN401
        """Return a value as plain data, ``OWN`` or ``_HIDDEN`` if it is not stored."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if isinstance(value, np.generic) and value.dtype.kind in KINDS:
            return value
        if isinstance(value, Enum):
            return ("enum", class_name(kind), value.name)
        if isinstance(value, tuple) and (kind is tuple or hasattr(kind, "_make")):
            parts = self._all(value)
            if not isinstance(parts, list):
                return parts
            is_named = kind is not tuple
            return ("named", class_name(kind), parts) if is_named else ("tuple", parts)
        if id(value) not in self._places:
            self._alive.append(value)
            place = len(self.nodes)
            self._places[id(value)] = ("node", place)
            self.nodes.append(None)  # reserved: its content may refer to it
            node = self._node(value, kind)
            if node is OWN or node is _HIDDEN:
                self._places[id(value)] = node
            else:
                self.nodes[place] = node
        return self._places[id(value)]

    def _node(self, value: Any, kind: type) -> Any:  # noqa: ANN401
        if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
            return ("array", value.copy())
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            parts = self._all(value.reshape(-1))
            if not isinstance(parts, list):
                return parts
            return ("objects", list(value.shape), parts)
        if isinstance(value, np.random.Generator):  # noqa: TID251
            return ("generator", value.bit_generator.state)
        if isinstance(value, np.random.RandomState):  # noqa: TID251
            return ("legacy", value.get_state(legacy=False))
        if isinstance(value, random.Random):
            return ("random", value.getstate())
        if kind is list or kind is deque:
            parts = self._all(value)
            return (kind.__name__, parts) if isinstance(parts, list) else parts
        if kind is set or kind is frozenset:
            # The order of a set of these is arbitrary anyway.
            parts = self._all(sorted(value, key=lambda v: (type(v).__name__, repr(v))))
            if not isinstance(parts, list):
                return parts
            has_own = any(part is OWN for part in parts)
            return _HIDDEN if has_own else (kind.__name__, parts)
        if isinstance(value, dict):
            return self._dict(value, kind)
        if is_ordinary(kind):
            return self._object(value, kind)
        native = native_state(value)
        if native is not None:
            return ("native", *native)
        if may_hide_state(value):
            self.hidden.append(value)
            return _HIDDEN
        return OWN

    def _dict(self, value: dict[Any, Any], kind: type) -> Any:  # noqa: ANN401
        keys, values = self._all(value), self._all(value.values())
        if keys is _HIDDEN or values is _HIDDEN:
            return _HIDDEN
        if keys is OWN or values is OWN:
            return OWN
        if any(key is OWN for key in keys):
            return _HIDDEN
        return ("dict", class_name(kind), keys, values)

    def _object(self, value: Any, kind: type) -> Any:  # noqa: ANN401
        known, opaque = {}, []
        for name, held in attributes(value):
            plain = self.flatten(held)
            if plain is OWN or plain is _HIDDEN:
                opaque.append((name, plain))
            else:
                known[name] = plain
        if opaque and not known:  # a handle of an object in an extension, or a constant
            return OWN if all(why is OWN for _, why in opaque) else _HIDDEN
        return ("object", class_name(kind), known, [name for name, _ in opaque])

    def _all(self, values: Any) -> Any:  # noqa: ANN401
        """Return all values as plain data, or why the container is not stored."""
        parts = [self.flatten(part) for part in values]
        if any(part is _HIDDEN for part in parts):
            return _HIDDEN
        return OWN if parts and all(part is OWN for part in parts) else parts
