# SPDX-License-Identifier: Apache-2.0
"""The identity of a function that makes environments, to keep verdicts about it."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import sysconfig
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from gymnasium.envs.registration import EnvSpec

from reactorl._util.machine import has_gil

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Identity:
    """The identity of some makers.

    Args:
        makers: The functions.

    Attributes:
        text: Equal for makers of the same environments, in this process.
        sure: Whether it is their identity in other processes as well: they consist of
            plain data and of names in installed packages.
    """

    def __init__(self, makers: Sequence[Callable[[], Any]]) -> None:
        self.sure = True
        self.objects: list[object] = []
        """Objects that ``text`` has by address; they must stay alive."""
        self.text = json.dumps([self._described(maker) for maker in makers])

    def key(self) -> str:
        """Return a key for files: of the makers, the packages and the interpreter."""
        facts = [
            self.text,
            sys.version,
            "gil" if has_gil() else "free-threaded",
            platform.platform(),
            *_installed(),
        ]
        return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]

    def _described(self, value: Any) -> Any:  # noqa: ANN401
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float | complex | bytes):
            return [type(value).__name__, repr(value)]
        if isinstance(value, dict):
            return [
                "dict",
                *([self._described(k), self._described(v)] for k, v in value.items()),
            ]
        if isinstance(value, tuple | list):
            return ["list", *map(self._described, value)]
        if isinstance(value, EnvSpec) and not _is_installed_spec(value):
            self.sure = False
        if is_dataclass(value) and not isinstance(value, type):
            parts = {
                f.name: self._described(getattr(value, f.name)) for f in fields(value)
            }
            return [self._described(type(value)), parts]
        if isinstance(value, partial):
            return [
                "partial",
                *map(self._described, (value.func, value.args, value.keywords)),
            ]
        name = _installed_name(value)
        if name is not None:
            return ["name", name]
        self.sure = False
        if isinstance(value, FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            held = (value.__defaults__, value.__kwdefaults__, cells)
            return ["function", self._address(value.__code__), self._described(held)]
        return ["object", self._address(value)]

    def _address(self, value: object) -> int:
        self.objects.append(value)
        return id(value)


def _installed_name(value: Any) -> str | None:  # noqa: ANN401
    """Return the name of a function or class of an installed package; None if none."""
    module = getattr(value, "__source_module__", getattr(value, "__module__", None))
    name = getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    try:
        found: Any = sys.modules.get(module) or import_module(module)
        file = getattr(found, "__file__", None)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return f"{module}:{name}" if found is value and is_installed(file) else None


def _is_installed_spec(spec: EnvSpec) -> bool:
    entries = [
        spec.entry_point,
        *(each.entry_point for each in spec.additional_wrappers),
    ]
    names = [entry.partition(":")[0] for entry in entries if isinstance(entry, str)]
    try:
        found = [find_spec(name) for name in names]
    except (ImportError, ValueError):
        return False
    return all(each is not None and is_installed(each.origin) for each in found)


def is_installed(file: str | None) -> bool:
    """Return whether a file belongs to an installed package, which does not change."""
    if file is None:
        return False
    path = Path(file)
    own = Path(__file__).parents[3]
    stdlib = sysconfig.get_path("stdlib")
    return (
        not _SITES.isdisjoint(path.parts)
        or path.is_relative_to(own)
        or path.is_relative_to(stdlib)
    )


_SITES: Final = {"site-packages", "dist-packages"}


def _installed() -> list[str]:
    """Return name and version of each installed package."""
    places = [Path(place) for place in sys.path if Path(place).name in _SITES]
    return sorted(
        {found.name for place in places for found in place.glob("*.dist-info")}
    )
