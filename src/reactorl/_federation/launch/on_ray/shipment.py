# SPDX-License-Identifier: Apache-2.0
"""The user's modules, for nodes that do not have them.

What is sent are the modules that this process has imported and that are not installed:
a package with all its files, another module as one file. Ray's ``working_dir`` would
send a whole directory, and only if this code is what connects to Ray; a federate in
another Python would not find it.
"""

from __future__ import annotations

import io
import sys
import sysconfig
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reactorl._federation.link_errors import LinkError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MAX_BYTES: Final = 256 << 20
_OURS: Final = ("reactorl", "ray", "__main__", "__mp_main__")
_SKIPPED: Final = ("__pycache__", "node_modules")
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Shipment:
    """Modules that are not installed.

    Attributes:
        data: Their files, as a zip archive; empty: there are none.
        before: Directories where they are here and that come before Python's own in
            ``sys.path``, and the modules of each.
        after: The same for directories that come later.
    """

    data: bytes
    before: dict[str, tuple[str, ...]]
    after: dict[str, tuple[str, ...]]

    def unpack(self, directory: Path) -> tuple[list[str], list[str]]:
        """Return where to search for the modules, before and after other directories.

        Where a node has the same files at the same place, as this machine has or one
        with the same file system, these are used: programs see the paths they know.
        """
        if not self.data:
            return [], []
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            if self._are_here(archive):
                return list(self.before), list(self.after)
            archive.extractall(directory)
        return [str(directory)], []

    def _are_here(self, archive: zipfile.ZipFile) -> bool:
        places = {
            name: Path(place)
            for group in (self.before, self.after)
            for place, names in group.items()
            for name in names
        }
        for info in archive.infolist():
            path = places[info.filename.partition("/")[0]] / info.filename
            try:
                if path.stat().st_size != info.file_size:
                    return False
                if path.read_bytes() != archive.read(info):
                    return False
            except OSError:
                return False
        return True


def shipment() -> Shipment:
    """Return the modules of this process that are not installed.

    Raises:
        LinkError: They are too large, or cannot be read.
    """
    files: dict[str, Path] = {}
    stdlib = sysconfig.get_path("stdlib")
    own = sys.path.index(stdlib) if stdlib in sys.path else len(sys.path)
    groups: tuple[dict[str, tuple[str, ...]], ...] = ({}, {})
    for name in sorted({name.partition(".")[0] for name in list(sys.modules)}):
        module = sys.modules.get(name)
        if module is None or name in _OURS:
            continue
        for path_in, path in _files(name, module).items():
            files.setdefault(path_in, path)
            place = str(path)[: -len(path_in) - 1]
            group = groups[place in sys.path[own:]]
            first = path_in.partition("/")[0]
            if first not in group.setdefault(place, ()):
                group[place] += (first,)
    return Shipment(_archive(files) if files else b"", *groups)


def _files(name: str, module: ModuleType) -> dict[str, Path]:
    """Return the files of a module or package that is not installed, by their names."""
    places = getattr(module, "__path__", None)
    if places is not None:
        found: dict[str, Path] = {}
        for place in map(Path, list(places)):
            if place.is_dir() and not _is_installed(place):
                for path in _below(place):
                    found.setdefault(f"{name}/{path.relative_to(place)}", path)
        return found
    file = getattr(module, "__file__", None)
    if file is None:
        return {}
    path = Path(file)
    is_module = path.name.partition(".")[0] == name and path.is_file()
    return {path.name: path} if is_module and not _is_installed(path) else {}


def _below(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir()):
        if path.name.startswith(".") or path.name in _SKIPPED:
            continue
        if path.is_dir():
            yield from _below(path)
        elif path.suffix != ".pyc":
            yield path


def _is_installed(path: Path) -> bool:
    """Return whether a file belongs to Python or to an installed package."""
    if {"site-packages", "dist-packages"} & set(path.parts):
        return True
    places = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    return any(path.is_relative_to(place) for place in places if place)


def _archive(files: dict[str, Path]) -> bytes:
    sizes: Counter[str] = Counter()
    target = io.BytesIO()
    try:
        for name, path in files.items():
            sizes[name.partition("/")[0]] += path.stat().st_size
        if sizes.total() > MAX_BYTES:
            parts = (f"{name} {size >> 20}" for name, size in sizes.most_common(3))
            msg = (
                f"modules that are sent to other nodes must have at most "
                f"{MAX_BYTES >> 20} MiB, got {sizes.total() >> 20}: {', '.join(parts)}"
            )
            raise LinkError(msg, _REMEDY)
        with zipfile.ZipFile(target, "w", compresslevel=1) as archive:
            for name, path in sorted(files.items()):
                info = zipfile.ZipInfo(name, _EPOCH)
                archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    except OSError as error:
        msg = f"sending {error.filename} to other nodes failed: {error.strerror}"
        raise LinkError(msg, _REMEDY) from error
    return target.getvalue()


_REMEDY: Final = (
    "Install your package on the nodes and use RayFederation(ship=False), or keep data "
    "out of the directory of its code."
)
