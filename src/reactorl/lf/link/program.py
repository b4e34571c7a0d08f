# SPDX-License-Identifier: Apache-2.0
"""The linked program: files and reactor classes, with all names resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reactorl.lf.link.properties import Properties
    from reactorl.lf.parse import syntax
    from reactorl.lf.source import Source, Span


@dataclass(eq=False)
class FileUnit:
    """A file that was read.

    Attributes:
        names: The classes that are visible in it: its own and, under their alias, the
            imported ones.
        own: Its own classes, in textual order, including the main reactor.
        imports: The files that it imports from, each with its import statement.
        lost: Names that could not be imported, which has been reported.
        reported: Spans of syntax errors; rules report nothing there.
        is_whole: Whether all its classes were parsed. Otherwise a missing class is
            not reported.
    """

    source: Source
    tree: syntax.File = field(repr=False)
    names: dict[str, ClassUnit] = field(default_factory=dict, repr=False)
    own: list[ClassUnit] = field(default_factory=list, repr=False)
    imports: list[tuple[syntax.Import, FileUnit]] = field(
        default_factory=list, repr=False
    )
    lost: set[str] = field(default_factory=set)
    reported: frozenset[Span] = field(default=frozenset(), repr=False)
    is_whole: bool = True


@dataclass(eq=False)
class Part:
    """A member of a class: the class that declares it, and its mode."""

    owner: ClassUnit
    member: syntax.Member
    mode: syntax.Mode | None = None


@dataclass(eq=False)
class ClassUnit:
    """A reactor class.

    Attributes:
        name: Its name; an unnamed main reactor has the name of its file.
        bases: The classes that it extends directly.
        lineage: All base classes, deepest first, left to right, each once, and itself.
        children: Classes of the contained reactors that it declares itself.
        is_damaged: Whether members may be missing because of a reported error: it did
            not parse, or extends an unknown class.
    """

    name: str
    tree: syntax.Reactor = field(repr=False)
    file: FileUnit = field(repr=False)
    bases: tuple[ClassUnit, ...] = field(default=(), repr=False)
    lineage: tuple[ClassUnit, ...] = field(default=(), repr=False)
    children: dict[str, ClassUnit] = field(default_factory=dict, repr=False)
    is_damaged: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all members are known, so that an unknown name is an error."""
        return not any(unit.is_damaged for unit in self.lineage)

    def own_parts(self) -> Iterator[Part]:
        """Yield the class's own members in textual order, including those of modes."""
        from reactorl.lf.parse import syntax

        for member in self.tree.members:
            yield Part(self, member)
            if isinstance(member, syntax.Mode):
                for inner in member.members:
                    yield Part(self, inner, member)

    def parts(self) -> Iterator[Part]:
        """Yield all members of instances, those of bases first."""
        for unit in self.lineage:
            yield from unit.own_parts()

    def params(self) -> dict[str, syntax.Param]:
        """Return all parameters; the last declaration of a name wins."""
        return {p.name.text: p for unit in self.lineage for p in unit.tree.params}

    def child_class(self, name: str) -> ClassUnit | None:
        """Return the class of a contained reactor, declared here or in a base."""
        for unit in self.lineage:
            if name in unit.children:
                return unit.children[name]
        return None


@dataclass(eq=False)
class LinkedProgram:
    """A file and everything it imports, linked.

    Attributes:
        root: The file that was loaded.
        files: All files in the order of reading, ``root`` first.
        main: The main or federated reactor of ``root``, if it has one.
        properties: Target properties, with attributes of the main reactor applied.
    """

    root: FileUnit
    files: list[FileUnit]
    main: ClassUnit | None
    properties: Properties

    def source_directory(self) -> Path:
        """Return the directory of the root file."""
        return self.root.source.path.resolve().parent

    def package_directory(self) -> Path:
        """Return the project's root: the parent of the nearest enclosing ``src``."""
        from reactorl.lf.link.packages import project_root

        return project_root(self.root.source.path)
