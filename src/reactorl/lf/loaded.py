# SPDX-License-Identifier: Apache-2.0
"""Loading ``.lf`` files: reactor classes for Python, or a program to run."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reactorl.errors import ReactorlError, ReactorlWarning
from reactorl.lf.api import Lf, visible_names
from reactorl.lf.code import Compiler, keep_text
from reactorl.lf.diagnostics import Report
from reactorl.lf.elaboration import elaborated
from reactorl.lf.lower import Lowering
from reactorl.lf.remains import leave_out_wrong
from reactorl.lf.resolve import resolve
from reactorl.lf.tracepoints import Tracepoints

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from reactorl._program.program import Program
    from reactorl.lf.diagnostics import Diagnostic
    from reactorl.lf.library import ClassUnit, FileUnit, Library
    from reactorl.lf.lower import LfReactor


class LfError(ReactorlError):
    """A ``.lf`` file is wrong.

    Attributes:
        diagnostics: What is wrong, in order.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        shown = "\n".join(diagnostic.render() for diagnostic in self.diagnostics)
        return f"the program cannot be loaded\n{shown}"


class LoadedModule(ModuleType):
    """Reactor classes of a ``.lf`` file, by name; imported ones under their alias."""

    main: type[LfReactor] | None
    """The main or federated reactor, if there is one."""


def load(path: str | os.PathLike[str]) -> LoadedModule:
    """Return the reactor classes of a ``.lf`` file, to be used from Python.

    They are reactor classes like any other: they can be contained in Python's, run,
    connected, tested and extended. Preambles are executed now; a name that is no
    Python attribute of the result is not a class of the file. Warnings about the file
    are given as ``ReactorlWarning``.

    A subclass in Python sees state, parameters and methods through ``self``; where
    ``Reactor`` has an attribute of that name, it sees that one.

    Raises:
        LfError: The file, or one it imports, is wrong; all diagnostics are in it.

    Example:
        >>> counter = reactorl.lf.load("counter.lf")
        >>> class Main(Reactor):
        ...     counter = counter.Counter(step=2)
    """
    report = Report()
    library = resolve(Path(path), report)
    if library is None or report.failed:
        raise LfError(tuple(report.in_order()))
    for diagnostic in report.in_order():
        warnings.warn(diagnostic.render(), ReactorlWarning, stacklevel=2)
    classes = dict.fromkeys(library.root.names.values())
    loaded = Loaded.of(library, [*classes, *library.root.own])
    module = LoadedModule(library.root.source.path.stem, f"Reactors of {path}.")
    module.__file__ = str(path)
    module.main = None
    for name, unit in library.root.names.items():
        setattr(module, name, loaded.lowering.reactor_class(unit))
    if library.main is not None:
        module.main = loaded.lowering.reactor_class(library.main)
        setattr(module, library.main.name, module.main)
    return module


@dataclass(frozen=True)
class Loaded:
    """A library whose code has been compiled and whose preambles have run."""

    library: Library
    lowering: Lowering
    namespace: dict[str, Any]
    """The globals of all code blocks."""

    @classmethod
    def of(cls, library: Library, wanted: Iterable[ClassUnit]) -> Loaded:
        """Compile a library and execute the preambles of the files in use.

        Args:
            library: One without errors.
            wanted: The classes that are in use, with all they are made of.
        """
        properties = library.properties
        lf = Lf(
            library.source_directory(),
            library.package_directory(),
            decentralized=properties.coordination == "decentralized"
            and library.main is not None
            and library.main.tree.kind == "federated",
        )
        namespace = _new_module(library.root.source.path)
        namespace |= visible_names(lf)
        for path in properties.files:
            directory = str(path.parent)
            if directory not in sys.path:
                sys.path.insert(0, directory)
        for file in library.files:
            keep_text(file.source)
        compiler = Compiler(namespace)
        for file in _contributing(library, wanted):
            for preamble in file.tree.preambles:
                compiler.execute(preamble.code, file.source)
        return cls(library, Lowering(compiler, lf, Tracepoints()), namespace)

    def program(self, report: Report) -> Program | None:
        """Return the Program of the main reactor; None if it is not legal."""
        assert self.library.main is not None
        return elaborated(self.library.main, self.lowering, report)

    @property
    def keepalive(self) -> bool | None:
        """Whether to wait when no event is left; None: the runtime decides.

        As in LF, a physical action in any file that was read turns it on, and a
        federation never ends because it has nothing to do.
        """
        if self.library.properties.keepalive is not None:
            return self.library.properties.keepalive
        main = self.library.main
        if main is not None and main.tree.kind == "federated":
            return True
        return has_physical_action(self.library) or None


def _new_module(path: Path) -> dict[str, Any]:
    """Return the namespace of a new module for the code of a program.

    It can be found by name, as pickle and dataclasses do with modules.
    """
    base = name = f"lf_program_{path.stem}"
    count = 1
    while name in sys.modules:
        count += 1
        name = f"{base}_{count}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    return module.__dict__


def has_physical_action(library: Library) -> bool:
    """Return whether any file declares a physical action."""
    return any(
        getattr(part.member, "origin", None) == "physical"
        for file in library.files
        for unit in file.own
        for part in unit.own_parts()
    )


def _contributing(library: Library, wanted: Iterable[ClassUnit]) -> list[FileUnit]:
    """Return the files whose preambles count: imported ones before importing ones."""
    used: dict[ClassUnit, None] = {}
    waiting = list(wanted)
    while waiting:
        unit = waiting.pop()
        if unit not in used:
            used[unit] = None
            for ancestor in unit.lineage:
                waiting += [ancestor, *ancestor.children.values()]
    files = {id(unit.file) for unit in used} | {id(library.root)}
    ordered: dict[int, FileUnit] = {}

    def visit(file: FileUnit) -> None:
        stack: list[tuple[FileUnit, bool]] = [(file, False)]
        seen: set[int] = set()
        while stack:
            here, done = stack.pop()
            if done:
                ordered.setdefault(id(here), here)
            elif id(here) not in seen:
                seen.add(id(here))
                stack.append((here, True))
                stack += [(other, False) for _, other in reversed(here.imports)]

    visit(library.root)
    return [file for identity, file in ordered.items() if identity in files]


def check(path: Path, report: Report) -> None:
    """Note everything that is wrong with a file, without executing anything of it."""
    before = len(report.diagnostics)
    library = resolve(path, report)
    mine = Report(report.diagnostics[before:])
    if library is None:
        return
    if mine.failed and not leave_out_wrong(library, mine):
        return
    lf = Lf(path.parent, path.parent, decentralized=False)
    lowering = Lowering(None, lf, Tracepoints())
    for unit in [library.main] if library.main is not None else library.root.own:
        elaborated(unit, lowering, report, remains=mine.failed)
