# SPDX-License-Identifier: Apache-2.0
"""Loads ``.lf`` files: as reactor classes for Python, or as a program to run."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reactorl.errors import ReactorlError, ReactorlWarning
from reactorl.lf.diagnostics import Report
from reactorl.lf.link.prune import prune_errors
from reactorl.lf.link.resolve import resolve
from reactorl.lf.lower.compile import Compiler, register_text
from reactorl.lf.lower.elaborate import elaborate_unit
from reactorl.lf.lower.lower import Lowering
from reactorl.lf.runtime.api import Lf, visible_names
from reactorl.lf.runtime.tracepoints import Tracepoints

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from reactorl._program.program import Program
    from reactorl.diagnostics import Diagnostic
    from reactorl.lf.link.program import ClassUnit, FileUnit, LinkedProgram
    from reactorl.lf.lower.lower import LfReactor


class LfError(ReactorlError):
    """A ``.lf`` file has errors.

    Attributes:
        diagnostics: All errors and warnings, by file and position.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("the program cannot be loaded")
        self.args = (diagnostics,)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        shown = "\n".join(diagnostic.render() for diagnostic in self.diagnostics)
        return f"{self.what}\n{shown}"


class LoadedModule(ModuleType):
    """Reactor classes of a ``.lf`` file, by name; imported ones under their alias."""

    main: type[LfReactor] | None
    """The main or federated reactor, if there is one."""


def load(path: str | os.PathLike[str]) -> LoadedModule:
    """Return the reactor classes of a ``.lf`` file, for use in Python.

    They are ordinary reactor classes: Python reactors can contain, connect and extend
    them, and they can be run and tested. Preambles are executed immediately. Warnings
    about the file are issued as ``ReactorlWarning``.

    A subclass in Python accesses state, parameters and methods through ``self``; if
    ``Reactor`` has an attribute of that name, ``self`` has that attribute instead.

    Raises:
        LfError: The file, or one it imports, has errors.

    Example:
        >>> counter = reactorl.lf.load("counter.lf")
        >>> class Main(Reactor):
        ...     counter = counter.Counter(step=2)
    """
    report = Report()
    linked = resolve(Path(path), report)
    if linked is None or report.failed:
        raise LfError(tuple(report.in_order()))
    for diagnostic in report.in_order():
        warnings.warn(diagnostic.render(), ReactorlWarning, stacklevel=2)
    classes = dict.fromkeys(linked.root.names.values())
    loaded = LoadedProgram.of(linked, [*classes, *linked.root.own])
    module = LoadedModule(linked.root.source.path.stem, f"Reactors of {path}.")
    module.__file__ = str(path)
    module.main = None
    for name, unit in linked.root.names.items():
        setattr(module, name, loaded.lowering.reactor_class(unit))
    if linked.main is not None:
        module.main = loaded.lowering.reactor_class(linked.main)
        setattr(module, linked.main.name, module.main)
    return module


@dataclass(frozen=True)
class LoadedProgram:
    """A linked program whose code is compiled and whose preambles were executed."""

    linked: LinkedProgram
    lowering: Lowering
    namespace: dict[str, Any]
    """The globals of all code blocks."""

    @classmethod
    def of(cls, linked: LinkedProgram, wanted: Iterable[ClassUnit]) -> LoadedProgram:
        """Compile a linked program and execute the preambles of the files in use.

        Args:
            linked: A program without errors.
            wanted: The classes that are used; their bases and contained classes are
                used, too.
        """
        properties = linked.properties
        lf = Lf(
            linked.source_directory(),
            linked.package_directory(),
            decentralized=properties.coordination == "decentralized"
            and linked.main is not None
            and linked.main.tree.kind == "federated",
        )
        namespace = _new_module(linked.root.source.path)
        namespace |= visible_names(lf)
        for path in properties.files:
            directory = str(path.parent)
            if directory not in sys.path:
                sys.path.insert(0, directory)
        for file in linked.files:
            register_text(file.source)
        compiler = Compiler(namespace)
        for file in _contributing(linked, wanted):
            for preamble in file.tree.preambles:
                compiler.execute(preamble.code, file.source)
        return cls(linked, Lowering(compiler, lf, Tracepoints()), namespace)

    def program(self, report: Report) -> Program | None:
        """Return the Program of the main reactor; None if it has errors."""
        assert self.linked.main is not None
        return elaborate_unit(self.linked.main, self.lowering, report)

    @property
    def keepalive(self) -> bool | None:
        """Whether the run waits when no event is left; None: the runtime decides.

        As in LF, it is true if any file declares a physical action, and for federated
        programs.
        """
        if self.linked.properties.keepalive is not None:
            return self.linked.properties.keepalive
        main = self.linked.main
        if main is not None and main.tree.kind == "federated":
            return True
        return has_physical_action(self.linked) or None


def _new_module(path: Path) -> dict[str, Any]:
    """Return the namespace of a new module for the code of a program.

    The module is in ``sys.modules``, because pickle and dataclasses look it up there.
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


def has_physical_action(linked: LinkedProgram) -> bool:
    """Return whether any file declares a physical action."""
    return any(
        getattr(part.member, "origin", None) == "physical"
        for file in linked.files
        for unit in file.own
        for part in unit.own_parts()
    )


def _contributing(linked: LinkedProgram, wanted: Iterable[ClassUnit]) -> list[FileUnit]:
    """Return the files whose preambles are executed, imported files first."""
    used: dict[ClassUnit, None] = {}
    waiting = list(wanted)
    while waiting:
        unit = waiting.pop()
        if unit not in used:
            used[unit] = None
            for ancestor in unit.lineage:
                waiting += [ancestor, *ancestor.children.values()]
    files = {id(unit.file) for unit in used} | {id(linked.root)}
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

    visit(linked.root)
    return [file for identity, file in ordered.items() if identity in files]


def check(path: Path, report: Report) -> None:
    """Report all errors of a file and its imports, without executing any code of it."""
    before = len(report.diagnostics)
    linked = resolve(path, report)
    if linked is None:
        return
    found = Report(report.diagnostics[before:])
    if found.failed and not prune_errors(linked, found):
        return
    lf = Lf(path.parent, path.parent, decentralized=False)
    lowering = Lowering(None, lf, Tracepoints())
    for unit in [linked.main] if linked.main is not None else linked.root.own:
        elaborate_unit(unit, lowering, report, pruned=found.failed)
