# SPDX-License-Identifier: Apache-2.0
"""What a flow is, in words of JSON: two flows with the same words train the same.

Functions and classes are told by their names; nobody can tell whether what they do has
changed. How many workers there are is no part of it, for it changes nothing.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reactorl.rl.flow.task import Task


def identity(flow: Task) -> dict[str, Any]:
    """Return everything that the numbers of a training follow from."""
    return {
        field.name: described(getattr(flow, field.name))
        for field in fields(flow)
        if field.init and field.compare
    }


def described(value: Any) -> Any:  # noqa: ANN401
    """Return a value in words of JSON; what has no value of its own by its name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): described(part) for key, part in value.items()}
    if isinstance(value, Set):
        return sorted(str(described(part)) for part in value)
    if isinstance(value, Sequence):
        return [described(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        own = {f.name: described(getattr(value, f.name)) for f in fields(value)}
        return {"kind": _name(type(value)), **own}
    if isinstance(value, partial):
        inside = [value.func, list(value.args), dict(value.keywords)]
        return {"kind": "partial", "of": described(inside)}
    return _name(value if callable(value) else type(value))


def _name(thing: Any) -> str:  # noqa: ANN401
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{named.__qualname__}"


def differences(ours: Any, theirs: Any, where: str = "") -> Iterator[str]:  # noqa: ANN401
    """Yield where two identities differ: what it is here, what it is there."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in dict.fromkeys((*ours, *theirs)):
            inner = f"{where}.{name}" if where else name
            if name in ours and name in theirs:
                yield from differences(ours[name], theirs[name], inner)
            else:
                yield f"{inner} is {'not known there' if name in ours else 'new there'}"
    elif ours != theirs or type(ours) is not type(theirs):
        yield f"{where} is {ours!r} here and {theirs!r} there"


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of what takes part, as far as it is installed."""
    found = {"python": platform.python_version()}
    names = ("reactorl", "numpy", "gymnasium", "jax", "jaxlib", "optax")
    for name in (*names, "pettingzoo", "mpe2"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
