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

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reactorl._federation.launch.joining import Gather
    from reactorl.lf.diagnostics import Report, about_file
    from reactorl.lf.federates import Federates, federates_of
    from reactorl.lf.format.format import format_text
    from reactorl.lf.launch import LfSource, run_federates
    from reactorl.lf.link.resolve import resolve
    from reactorl.lf.loader import LfError, LoadedProgram, check, load
    from reactorl.lf.parse.time_units import TIME_UNITS
    from reactorl.lf.places import path_of
    from reactorl.lf.runtime.global_seeds import seed_globals
    from reactorl.lf.source import MAX_BYTES, Source, read_source

__all__ = [
    "MAX_BYTES",
    "TIME_UNITS",
    "Federates",
    "Gather",
    "LfError",
    "LfSource",
    "LoadedProgram",
    "Report",
    "Source",
    "about_file",
    "check",
    "federates_of",
    "format_text",
    "load",
    "path_of",
    "read_source",
    "resolve",
    "run_federates",
    "seed_globals",
]

# Imported on first use: the command line needs only parts of the front end.
_MODULES: Final = {
    "MAX_BYTES": "source",
    "TIME_UNITS": "parse.time_units",
    "Federates": "federates",
    "LfError": "loader",
    "LfSource": "launch",
    "LoadedProgram": "loader",
    "Report": "diagnostics",
    "Source": "source",
    "about_file": "diagnostics",
    "check": "loader",
    "federates_of": "federates",
    "format_text": "format.format",
    "load": "loader",
    "path_of": "places",
    "read_source": "source",
    "resolve": "link.resolve",
    "run_federates": "launch",
    "seed_globals": "runtime.global_seeds",
}


def __getattr__(name: str) -> object:
    if name == "Gather":
        return import_module("reactorl._federation.launch.joining").Gather
    if name in _MODULES:
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        if name in ("LfError", "load"):  # what users see in tracebacks and help()
            value.__module__ = __name__
        globals()[name] = value
        return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
