# SPDX-License-Identifier: Apache-2.0
"""The Lingua Franca front end: ``.lf`` programs of the Python target, without Java.

    text ──parse──> syntax tree ──link──> LinkedProgram ──lower──> reactor classes

The packages are read in the order ``parse``, ``link``, ``lower``, ``runtime``;
``format`` is ``reactorl fmt``. ``loader.py`` runs all stages. Each stage adds errors to
a ``Report`` and continues, so that one run of ``reactorl check`` shows all of them. The
result is ordinary reactor classes: elaboration and the runtime do not distinguish them
from classes that were written in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.lf.loader import LfError, load

__all__ = ["LfError", "load"]


def __getattr__(name: str) -> object:
    # Imported on first use: the command line needs only parts of the front end.
    if name in __all__:
        from reactorl.lf import loader

        value = globals()[name] = getattr(loader, name)
        value.__module__ = __name__
        return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
