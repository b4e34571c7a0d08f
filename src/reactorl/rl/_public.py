# SPDX-License-Identifier: Apache-2.0
"""Marks what ``reactorl.rl`` exports."""

from __future__ import annotations

from typing import Any, TypeVar

_T = TypeVar("_T")


def public(thing: _T) -> _T:
    """Show a class or function under ``reactorl.rl``, where users import it from.

    Tracebacks, ``help()`` and the identity in checkpoints use this path, so it does not
    change when the file moves.
    """
    named: Any = thing
    named.__source_module__ = named.__module__
    named.__module__ = "reactorl.rl"
    return thing
