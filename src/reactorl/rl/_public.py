# SPDX-License-Identifier: Apache-2.0
"""Marks what ``reactorl.rl`` exports."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, TypeVar

from reactorl._util.dataclass_fields import DocWithFields

_T = TypeVar("_T")


def public(thing: _T) -> _T:
    """Show a class or function under ``reactorl.rl``, where users import it from.

    Tracebacks, ``help()`` and the identity in checkpoints use this path, so it does not
    change when the file moves. The ``__doc__`` of a dataclass explains its fields.
    """
    named: Any = thing
    named.__source_module__ = named.__module__
    named.__module__ = "reactorl.rl"
    if is_dataclass(thing):
        named.__doc__ = DocWithFields(named.__doc__)
    return thing
