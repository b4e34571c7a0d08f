# SPDX-License-Identifier: Apache-2.0
"""Reads the files of a program: the root file and, once each, all imported files."""

from __future__ import annotations

import os
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING

from reactorl.diagnostics import Diagnostic, Severity
from reactorl.lf.diagnostics import Report, nearest
from reactorl.lf.link import packages
from reactorl.lf.link.cycles import walk
from reactorl.lf.link.program import ClassUnit, FileUnit
from reactorl.lf.parse import syntax
from reactorl.lf.places import position, span_of
from reactorl.lf.source import UNOPENED, read_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from reactorl.lf.source import Source

    Parse = Callable[[Source, Report], syntax.File]


def read_files(path: Path, report: Report) -> list[FileUnit]:
    """Return a file and its imports, in the order of reading; [] if it is unreadable.

    ``own`` and ``names`` of each file are complete.
    """
    from reactorl.lf.parse.parser import parse

    loader = Loader(report, parse)
    loader.load_root(path)
    loader.follow_imports()
    return loader.units


class Loader:
    """Reads files and follows their imports."""

    def __init__(self, report: Report, parse: Parse) -> None:
        self.units: list[FileUnit] = []
        self._report = report
        self._parse = parse
        self._by_real_path: dict[str, FileUnit | Diagnostic] = {}

    def load_root(self, path: Path) -> None:
        """Read the root file."""
        found = self._load(path)
        if isinstance(found, Diagnostic):
            self._report.add(found)

    def follow_imports(self) -> None:
        """Read all imported files and link the imported names."""
        for unit in self.units:  # grows during the loop
            for clause in unit.tree.imports:
                self._follow(unit, clause)
        if self.units:
            self._report_cycles()

    def _load(self, path: Path) -> FileUnit | Diagnostic:
        real = real_path(path)
        if real not in self._by_real_path:
            self._by_real_path[real] = self._read(path)
        return self._by_real_path[real]

    def _read(self, path: Path) -> FileUnit | Diagnostic:
        self._report.add_file(path)
        source = read_source(path)
        if isinstance(source, Diagnostic):
            return source
        found = Report()
        tree = self._parse(source, found)
        target = tree.target
        if target is not None and target.name.text != "Python":
            return _other_target(source, target.name)  # its other errors are irrelevant
        for diagnostic in found.diagnostics:
            self._report.add(diagnostic)
        spans = [span_of(d) for d in found.diagnostics if d.severity is Severity.ERROR]
        unit = FileUnit(source, tree, reported=frozenset(filter(None, spans)))
        for reactor in tree.reactors:
            name = reactor.name.text if reactor.name else _text(source.path.stem)
            unit.own.append(ClassUnit(name, reactor, unit))
        _mark_damage(unit, sorted(span.start for span in unit.reported))
        for declared in unit.own:
            unit.names.setdefault(declared.name, declared)
        self.units.append(unit)
        return unit

    # -- imports -------------------------------------------------------------------

    def _follow(self, unit: FileUnit, clause: syntax.Import) -> None:
        if isinstance(clause.origin, syntax.Package):
            self._follow_package(unit, clause, clause.origin)
            return
        text = string_value(clause.origin)
        found = self._load(beside(unit.source.path, text))
        if self._usable(unit, clause, found, f'"{text}"'):
            assert isinstance(found, FileUnit)
            for name in clause.names if found is not unit else ():
                self._link(unit, clause, name, [found])

    def _follow_package(
        self, unit: FileUnit, clause: syntax.Import, origin: syntax.Package
    ) -> None:
        package, file = packages.split(origin.text)
        if file is not None:
            paths = packages.package_files(unit.source.path, package, file)
            if not paths:
                what = f"no package '{package}' with a file '{file}'"
                self._package_missing(unit, clause, package, what)
                return
            found = self._load(paths[0])
            if self._usable(unit, clause, found, f"<{origin.text}>"):
                assert isinstance(found, FileUnit)
                for name in clause.names:
                    self._link(unit, clause, name, [found])
            return
        directory = packages.package_directory(unit.source.path, package)
        if directory is None:
            self._package_missing(unit, clause, package, f"no package '{package}'")
            return
        for name in clause.names:
            self._link_from_package(unit, clause, name, directory)

    def _link_from_package(
        self,
        unit: FileUnit,
        clause: syntax.Import,
        name: syntax.ImportedName,
        directory: Path,
    ) -> None:
        tried: list[FileUnit] = []
        for path in packages.files_for(directory, name.name.text):
            found = self._load(path)
            if not self._usable(unit, clause, found, f"'{path}'"):
                return
            assert isinstance(found, FileUnit)
            if any(c.name == name.name.text and not c.tree.kind for c in found.own):
                tried = [found]
                break
            tried.append(found)
        self._link(unit, clause, name, tried)

    def _package_missing(
        self, unit: FileUnit, clause: syntax.Import, package: str, what: str
    ) -> None:
        places = [
            str(place / package / "src" / "lib")
            for place in packages.search_directories(unit.source.path)
        ]
        advice = (
            f"Looked in {', '.join(short(place) for place in places)}. Add directories "
            f"with the environment variable {packages.VARIABLE}."
        )
        self._report.error(unit.source, clause.origin.span, what, advice)
        unit.lost.update((n.alias or n.name).text for n in clause.names)

    def _usable(
        self,
        unit: FileUnit,
        clause: syntax.Import,
        found: FileUnit | Diagnostic,
        origin: str,
    ) -> bool:
        if isinstance(found, FileUnit):
            if all(other is not found for _, other in unit.imports):
                unit.imports.append((clause, found))
            return True
        unit.lost.update((n.alias or n.name).text for n in clause.names)
        if found.code != UNOPENED:  # the error is in that file
            self._report.add(found)
        else:
            what = f"cannot import from {origin}: {found.what}"
            self._report.error(unit.source, clause.origin.span, what, found.remedy)
        return False

    def _link(
        self,
        unit: FileUnit,
        clause: syntax.Import,
        imported: syntax.ImportedName,
        files: list[FileUnit],
    ) -> None:
        wanted = imported.name
        local = imported.alias or imported.name
        classes = [c for file in files for c in file.own]
        found = next(
            (c for c in classes if c.name == wanted.text and not c.tree.kind), None
        )
        if found is None:
            unit.lost.add(local.text)
            self._report_missing(unit, clause, wanted, files)
            return
        present = unit.names.get(local.text)
        if present is None:
            unit.names[local.text] = found
        elif present is found:
            what = f"'{local.text}' is imported twice"
            self._report.error(unit.source, local.span, what, "Remove one of the two.")
        else:
            where = "imported" if present.file is not unit else "declared in this file"
            what = f"another reactor named '{local.text}' is {where}"
            advice = (
                f"Write '{wanted.text} as OtherName' to import it under another name."
            )
            self._report.error(unit.source, local.span, what, advice)

    def _report_missing(
        self,
        unit: FileUnit,
        clause: syntax.Import,
        wanted: syntax.Name,
        files: list[FileUnit],
    ) -> None:
        if not all(file.is_whole for file in files):
            return  # it may be in the part that did not parse
        origin = clause.origin.text
        origin = f"<{origin}>" if isinstance(clause.origin, syntax.Package) else origin
        classes = [c for file in files for c in file.own]
        if any(c.name == wanted.text for c in classes):
            what = f"'{wanted.text}' is the main reactor of {origin}"
            advice = "A main reactor cannot be imported."
        else:
            what = f"{origin} has no reactor '{wanted.text}'"
            advice = nearest(wanted.text, [c.name for c in classes if not c.tree.kind])
        self._report.error(unit.source, wanted.span, what, advice)

    def _report_cycles(self) -> None:
        found = walk(
            self.units[:1], lambda u: [((u, c), other) for c, other in u.imports]
        )
        for cycle in found.cycles:
            unit, clause = cycle.closing
            if cycle.length == 1:
                what, advice = "this file imports itself", "Remove the import."
            else:
                way = cycle.show(lambda u: short(str(u.source.path)), " -> ")
                what = f"files import each other: {way}"
                advice = "Move the shared reactors to a separate file."
            self._report.error(unit.source, clause.origin.span, what, advice)


def _text(name: str) -> str:
    """Return the name of a file, whose bytes may be no text, as the name of a class."""
    return name.encode(errors="backslashreplace").decode()


def _mark_damage(unit: FileUnit, places: list[int]) -> None:
    """Mark the classes with syntax errors, and the file if there are others."""
    if not places:
        return
    inside = 0
    for declared in unit.own:
        span = declared.tree.span
        hits = bisect_left(places, span.end) - bisect_left(places, span.start)
        declared.is_damaged = hits > 0
        inside += hits
    unit.is_whole = inside == len(places)


def _other_target(source: Source, name: syntax.Name) -> Diagnostic:
    if name.text.casefold() == "python":
        what, advice = f"unknown target '{name.text}'", "Write 'target Python'."
    else:
        what = f"target '{name.text}' is not supported"
        advice = "Only the Python target is supported: write 'target Python'."
    return Diagnostic(what, position(source, name.span), advice)


def beside(file: Path, text: str) -> Path:
    """Return the path of ``text`` relative to the directory of a file."""
    joined = file.parent / text
    plain = Path(os.path.normpath(joined))
    # "a/../b" is "b" unless "a" is a symbolic link.
    return plain if real_path(plain) == real_path(joined) else joined


def real_path(path: Path) -> str:
    """Return a path without symbolic links, which identifies a file."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # an invalid path: opening it fails later
        return str(path)


def short(path: str) -> str:
    """Return a path relative to the working directory if it is below that."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def string_value(string: syntax.String) -> str:
    """Return the value of a string: without quotes, escaped quotes replaced."""
    text = string.text
    quotes = 3 if text.startswith('"""') and len(text) >= 6 else 1
    return text[quotes:-quotes].replace('\\"', '"').replace("\\\\", "\\")
