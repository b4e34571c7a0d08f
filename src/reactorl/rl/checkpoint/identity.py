# SPDX-License-Identifier: Apache-2.0
"""The identity of a task, as JSON: tasks with the same identity give the same results.

Functions and classes are identified by their names; a change of their code is not
detected. The number of workers is not part of it, because it does not matter.
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


def identity(task: Task) -> dict[str, Any]:
    """Return everything that the results of a training run depend on."""
    return {
        field.name: described(getattr(task, field.name))
        for field in fields(task)
        if field.init and field.compare
    }


def described(value: Any) -> Any:  # noqa: ANN401
    """Return a value in terms of JSON; functions and classes by their names."""
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
    """Yield where two identities differ, with both values."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in dict.fromkeys((*ours, *theirs)):
            inner = f"{where}.{name}" if where else name
            if name in ours and name in theirs:
                yield from differences(ours[name], theirs[name], inner)
            else:
                yield f"{inner} is missing {'there' if name in ours else 'here'}"
    elif ours != theirs or type(ours) is not type(theirs):
        yield f"{where} is {ours!r} here and {theirs!r} there"


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of the packages that results depend on."""
    found = {"python": platform.python_version()}
    names = ("reactorl", "numpy", "gymnasium", "jax", "jaxlib", "optax")
    for name in (*names, "pettingzoo", "mpe2"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
