# SPDX-License-Identifier: Apache-2.0
"""Lingua Franca programs of the Python target: read, checked, run; no Java, no build.

    text ──parse──> syntax ──resolve──> library ──lower──> reactor classes ──> Program

Every stage notes what is wrong in a ``Report`` and goes on, so that one look shows
everything. What comes out is ordinary reactor classes: from there on an LF program
and one that was written in Python are the same thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.lf.loaded import LfError, load

__all__ = ["LfError", "load"]


def __getattr__(name: str) -> object:
    # The front end is loaded on first use: the command line needs only parts of it.
    if name in __all__:
        from reactorl.lf import loaded

        value = globals()[name] = getattr(loaded, name)
        value.__module__ = __name__
        return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
