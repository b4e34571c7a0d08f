# SPDX-License-Identifier: Apache-2.0
"""Search for packages: ``import R from <pkg/File.lf>``.

A package is a directory with LF files in ``src/lib``. It is searched for in the
project's ``build/lfc_include`` and ``lf-packages``, then in each directory of the
environment variable ``LF_PACKAGES``.
"""

# Names come from source files and may be invalid paths, for which ``os.path`` returns
# False and ``Path`` raises.
# ruff: noqa: PTH112, PTH113

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "LF_PACKAGES"


def project_root(path: Path) -> Path:
    """Return the root of a file's project: the parent of the nearest ``src`` above.

    Without a ``src`` it is the file's own directory.
    """
    file = path.resolve()
    for directory in file.parents:
        if directory.name == "src":
            return directory.parent
    return file.parent


def search_directories(path: Path) -> list[Path]:
    """Return the directories that are searched for the packages of a file, in order."""
    root = project_root(path)
    listed = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [
        root / "build" / "lfc_include",
        root / "lf-packages",
        *(Path(entry) for entry in listed if entry),
    ]


def split(text: str) -> tuple[str, str | None]:
    """Return the package and the file in it of ``pkg/File.lf``; None for all files."""
    package, _, rest = text.partition("/")
    return package.strip(), rest.strip() or None


def package_files(path: Path, package: str, file: str) -> list[Path]:
    """Return the paths of ``file`` in all packages of that name, in search order."""
    places = [place / package / "src" / "lib" for place in search_directories(path)]
    return [place / file for place in places if os.path.isfile(place / file)]


def package_directory(path: Path, package: str) -> Path | None:
    """Return the directory of a package's files, first in search order."""
    for place in search_directories(path):
        directory = place / package / "src" / "lib"
        if os.path.isdir(directory):
            return directory
    return None


def files_for(directory: Path, class_name: str) -> list[Path]:
    """Return the files of a package that may declare a class, most likely first."""
    first = directory / f"{class_name}.lf"
    others = sorted(p for p in directory.glob("*.lf") if p != first)
    return [first, *others] if os.path.isfile(first) else others
