# SPDX-License-Identifier: Apache-2.0
"""Where packages are: ``import R from <pkg/File.lf>``.

A package is a directory with LF files in ``src/lib``. It is looked for in the
project's ``build/lfc_include`` and ``lf-packages``, then in each directory that the
environment variable ``LF_PACKAGES`` names.
"""

# Names come from sources and may be anything. ``os.path`` answers no for what cannot be
# a path, where ``Path`` raises.
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


def search_places(path: Path) -> list[Path]:
    """Return where packages for a file's imports may be, in order."""
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
    """Return every ``file`` that the packages of that name have, best place first."""
    places = [place / package / "src" / "lib" for place in search_places(path)]
    return [place / file for place in places if os.path.isfile(place / file)]


def package_directory(path: Path, package: str) -> Path | None:
    """Return the first place that has a package, as the directory of its files."""
    for place in search_places(path):
        directory = place / package / "src" / "lib"
        if os.path.isdir(directory):
            return directory
    return None


def files_for(directory: Path, class_name: str) -> list[Path]:
    """Return the files of a package to look for a class in, likeliest first."""
    first = directory / f"{class_name}.lf"
    others = sorted(p for p in directory.glob("*.lf") if p != first)
    return [first, *others] if os.path.isfile(first) else others
