# SPDX-License-Identifier: Apache-2.0
"""Restores the state of an environment, which ``env_state`` saved, in a new one.

Objects and generators that are at the same place as before are changed in place,
because values that are not plain may refer to them. Containers and arrays are created,
because those of the new environment may be shared constants.

Nothing is imported because of the content of a checkpoint: classes are those that the
new environment itself uses, and others of the same packages that are loaded already.
"""

from __future__ import annotations

import random  # noqa: TID251 - environments have generators of its kind
import sys
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from reactorl.rl.checkpoint.native_state import restore_native
from reactorl.rl.checkpoint.object_graph import (
    MISSING,
    PLAIN,
    assign,
    attributes,
    class_name,
    is_ordinary,
)

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data


def restore_env(env: Any, saved: Data) -> None:  # noqa: ANN401
    """Restore a state in an environment of the same kind, which has been reset.

    Raises:
        ValueError: It is of another kind, or an object of the state cannot be created.
    """
    if saved[0] is not None:  # None: nothing of it is plain
        _Restorer(env, saved).unflatten(("node", 0), env, type(env).__qualname__)


def copy_generators(source: Any, target: Any) -> None:  # noqa: ANN401
    """Set the random generators of an environment to those of another one.

    Nothing else is changed; places that are not alike in both are left alone.
    """
    seen: set[int] = set()
    pairs = [(source, target)]
    while pairs:
        one, other = pairs.pop()
        if type(one) in PLAIN or type(one) is not type(other) or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.random.Generator):  # noqa: TID251
            if type(one.bit_generator) is type(other.bit_generator):
                other.bit_generator.state = one.bit_generator.state
        elif isinstance(one, np.random.RandomState):  # noqa: TID251
            other.set_state(one.get_state(legacy=False))
        elif isinstance(one, random.Random):
            other.setstate(one.getstate())
        elif isinstance(one, dict):
            pairs += [(held, other[key]) for key, held in one.items() if key in other]
        elif isinstance(one, list | tuple | deque):
            pairs += zip(one, other, strict=False)
        elif is_ordinary(type(one)):
            there = dict(attributes(other))
            pairs += [
                (held, there[name]) for name, held in attributes(one) if name in there
            ]


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
        if type(value) in PLAIN or id(value) in seen:
            return
        seen.add(id(value))
        self._met.append(value)
        kind = type(value)
        parts: Any = ()
        if isinstance(value, dict):
            parts = (*value, *value.values())
        elif isinstance(value, list | tuple | deque | set | frozenset):
            parts = value
        elif isinstance(value, np.ndarray):
            parts = value.reshape(-1) if value.dtype.kind == "O" else ()
        elif is_ordinary(kind):
            parts = [held for _, held in attributes(value)]
        elif not isinstance(value, Enum):
            return
        self._classes[class_name(kind)] = kind
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
        if kind == "own" or (kind == "node" and self._nodes[rest[0]] is None):
            if held is None:
                msg = f"{where} cannot be made anew: it is not plain"
                raise ValueError(msg)
            return held
        if kind == "node":
            place = rest[0]
            if place not in self._made:
                self._restore_node(place, held, where)
            return self._made[place]
        if kind == "enum":
            return self._class(rest[0], where, Enum)[rest[1]]
        parts = self._parts(rest[-1], held, where)
        if kind == "tuple":
            return tuple(parts)
        # Not the constructor, which may be any code: a checkpoint chooses the class.
        return self._class(rest[0], where, tuple)._make(parts)

    def _restore_node(self, place: int, held: Any, where: str) -> None:  # noqa: ANN401
        kind, *rest = self._nodes[place]
        if id(held) in self._taken:
            held = None  # used for another object already
        if kind == "array":
            self._made[place] = rest[0].copy()
        elif kind == "generator":
            self._made[place] = self._generator(rest[0], held)
        elif kind == "legacy":
            known = isinstance(held, np.random.RandomState)  # noqa: TID251
            made = self._made[place] = held if known else np.random.RandomState()  # noqa: TID251
            made.set_state(rest[0])
            self._taken.add(id(made))
        elif kind == "native":
            restore_native(rest[0], rest[1], held, where)
            self._made[place] = held
        elif kind == "objects":
            made = self._made[place] = np.empty(rest[0], object)
            there = held.reshape(-1) if isinstance(held, np.ndarray) else ()
            found = self._parts(rest[1], list(there), where)
            for k, part in enumerate(found):
                made.reshape(-1)[k] = part
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
        cls = dict if name == class_name(dict) else self._class(name, where, dict)
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
        if held is None or class_name(type(held)) != name:
            if place == 0:
                msg = f"the environment was a {name} and is a {class_name(type(held))}"
                raise ValueError(msg)
            cls = self._class(name, where)
            if opaque:
                lacks = ", ".join(opaque)
                msg = f"{where} cannot be made anew: {lacks} of {name} is not plain"
                raise ValueError(msg)
            held = object.__new__(cls)
        self._made[place] = held
        self._taken.add(id(held))
        there = dict(attributes(held))
        for attribute in there:
            if attribute not in known and attribute not in opaque:
                assign(held, attribute, MISSING)
        for attribute, value in known.items():
            inner = f"{where}.{attribute}"
            found = self.unflatten(value, there.get(attribute), inner)
            assign(held, attribute, found)

    def _class(self, name: str, where: str, base: type = object) -> Any:  # noqa: ANN401
        found = self._classes.get(name) or self._loaded(name)
        if found is None:
            msg = f"{where} was a {name}, and the new environment has none"
            raise ValueError(msg)
        is_named = base is not tuple or hasattr(found, "_make")
        if not issubclass(found, base) or not is_named:
            msg = f"{name} must be a {'named ' * (base is tuple)}{base.__name__}"
            raise ValueError(msg)
        return found

    def _loaded(self, name: str) -> type | None:
        """Return a class of a package whose classes the new environment uses."""
        package = name.partition(".")[0]
        if not any(used.partition(".")[0] == package for used in self._classes):
            return None
        parts = name.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            found: Any = sys.modules.get(".".join(parts[:cut]))
            if found is None:
                continue
            for part in parts[cut:]:
                found = vars(found).get(part) if hasattr(found, "__dict__") else None
            fits = isinstance(found, type) and class_name(found) == name
            return found if fits else None
        return None
