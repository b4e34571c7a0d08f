# SPDX-License-Identifier: Apache-2.0
"""Where two saved states of an environment first differ.

The numbering of nodes depends on the order in which attributes were created, which a
restored environment need not share. So the graphs are walked side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from reactorl.rl.checkpoint.registry import Data

_LARGE: Final = 2**30
"""Handles are counted; seconds since 1970 and addresses are larger."""


def first_difference(one: Data, other: Data) -> str:
    """Return the place of the first difference of two states, empty if there is none.

    Args:
        one: From ``saved_env``.
        other: From ``saved_env``.
    """
    if (one[0] is None) != (other[0] is None):
        return "env"
    if one[0] is None:
        return ""
    return _Comparison(one, other).value(("node", 0), ("node", 0), "env")


def first_identifier(one: Data, other: Data) -> str:
    """Return the place of the first small number that differs.

    In environments that did the same, that is a handle: of a simulator, a connection, a
    window. It may be written in a string. Other differences do not count: clocks are
    floats or large numbers.

    Args:
        one: From ``saved_env``.
        other: From ``saved_env``.
    """
    if one[0] is None or other[0] is None:
        return ""
    return _Identifiers(one, other).value(("node", 0), ("node", 0), "env")


class _Comparison:
    """Compares two graphs; nodes that were compared once correspond to each other."""

    def __init__(self, one: list[Data], other: list[Data]) -> None:
        self._one, self._nodes = one, other
        self._pairs: dict[int, int] = {}

    def value(self, a: Any, b: Any, where: str) -> str:  # noqa: ANN401
        """Return the place of the first difference of two values."""
        if not isinstance(a, tuple) or not isinstance(b, tuple):
            return self._leaf(a, b, where)
        if a[0] != b[0]:
            return self._other(where)
        if a[0] != "node":
            return self._tagged(a, b, where)
        if a[1] in self._pairs:
            return "" if self._pairs[a[1]] == b[1] else self._other(where)
        self._pairs[a[1]] = b[1]
        one, other = self._one[a[1]], self._nodes[b[1]]
        if one is None or other is None:
            return "" if one is other else self._other(where)
        return self._tagged(one, other, where)

    def _leaf(self, a: Any, b: Any, where: str) -> str:  # noqa: ANN401
        """Return the place of two values without parts if they differ."""
        return "" if same_bits(a, b) else where

    def _other(self, where: str) -> str:
        """Return the place of two values of different structure."""
        return where

    def _tagged(self, a: Any, b: Any, where: str) -> str:  # noqa: ANN401
        if a[0] != b[0]:
            return self._other(where)
        if a[0] == "object":
            if a[1] != b[1]:
                return self._other(where)
            # Constants are not compared: wrappers cache some when they are described.
            return self._mapping(a[2], b[2], where, {*a[3], *b[3]})
        if a[0] == "dict":
            return self._list(a[2], b[2], where) or self._list(a[3], b[3], where)
        if a[0] in ("set", "frozenset") and any(isinstance(k, tuple) for k in a[1]):
            # Objects in sets are sorted by their addresses.
            return "" if len(a[1]) == len(b[1]) else self._other(where)
        if a[0] in ("list", "deque", "set", "frozenset", "tuple"):
            return self._list(a[1], b[1], where)
        if a[0] in ("named", "objects"):
            if a[1] != b[1]:
                return self._other(where)
            return self._list(a[2], b[2], where)
        return self._leaf(a[1:], b[1:], where)

    def _mapping(
        self, a: dict[str, Any], b: dict[str, Any], where: str, constants: set[str]
    ) -> str:
        for name in sorted({*a, *b} - constants):
            if name not in a or name not in b:
                found = self._other(f"{where}.{name}")
            else:
                found = self.value(a[name], b[name], f"{where}.{name}")
            if found:
                return found
        return ""

    def _list(self, a: list[Any], b: list[Any], where: str) -> str:
        if len(a) != len(b):
            return self._other(where)
        for k, (one, other) in enumerate(zip(a, b, strict=True)):
            found = self.value(one, other, f"{where}[{k}]")
            if found:
                return found
        return ""


class _Identifiers(_Comparison):
    """Finds small numbers that differ; other differences do not count."""

    def _leaf(self, a: Any, b: Any, where: str) -> str:  # noqa: ANN401
        if type(a) is int and type(b) is int:
            return where if a != b and abs(a) < _LARGE and abs(b) < _LARGE else ""
        both = type(a) is str and type(b) is str
        return where if both and a != b and a.isdigit() and b.isdigit() else ""

    def _other(self, where: str) -> str:
        return ""


def same_bits(a: Any, b: Any) -> bool:  # noqa: ANN401
    """Return whether plain data is the same, bit by bit, also if it is not a number."""
    if isinstance(a, np.ndarray | np.generic):
        if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
            return False
        return a.tobytes() == b.tobytes()
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_bits(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        each = zip(a, b, strict=False)
        return len(a) == len(b) and all(same_bits(x, y) for x, y in each)
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    return bool(a == b)
