# SPDX-License-Identifier: Apache-2.0
"""Files and reactor classes of an LF program, every name followed to what it means."""

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
        names: The classes that can be named in it: its own and the imported ones,
            these under their alias.
        own: Its own classes, in textual order, the main one included.
        imports: The files that it imports from, each with the import that says so.
        lost: Names that an import should have given and did not: reported already.
        told: Where the parser found something wrong: more words would be too many.
        is_whole: Whether all its classes are there. What is missing from a file that
            could not be parsed is not worth a message.
    """

    source: Source
    tree: syntax.File = field(repr=False)
    names: dict[str, ClassUnit] = field(default_factory=dict, repr=False)
    own: list[ClassUnit] = field(default_factory=list, repr=False)
    imports: list[tuple[syntax.Import, FileUnit]] = field(
        default_factory=list, repr=False
    )
    lost: set[str] = field(default_factory=set)
    told: frozenset[Span] = field(default=frozenset(), repr=False)
    is_whole: bool = True


@dataclass(eq=False)
class Part:
    """A member of a class: the class that says it, and the mode it stands in."""

    owner: ClassUnit
    member: syntax.Member
    mode: syntax.Mode | None = None


@dataclass(eq=False)
class ClassUnit:
    """A reactor class.

    Attributes:
        name: Its name; an unnamed main reactor is called like its file.
        bases: What it extends directly.
        lineage: All it is made of: deepest base first, left to right, each once,
            itself last.
        children: Classes of the contained reactors that it declares itself.
        is_damaged: Whether parts of it may be missing, as has been reported: it did
            not parse, or extends something unknown.
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
        """Whether all it consists of is known, so that a missing name is missing."""
        return not any(unit.is_damaged for unit in self.lineage)

    def own_parts(self) -> Iterator[Part]:
        """Yield what the class itself says, in textual order, content of modes too."""
        from reactorl.lf.parse import syntax

        for member in self.tree.members:
            yield Part(self, member)
            if isinstance(member, syntax.Mode):
                for inner in member.members:
                    yield Part(self, inner, member)

    def parts(self) -> Iterator[Part]:
        """Yield everything that instances consist of, bases first."""
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
    """A file and everything it imports.

    Attributes:
        root: The file that was asked for.
        files: All files, in the order they were met, ``root`` first.
        main: The main or federated reactor of ``root``, if it has one.
        properties: What the target line and main's attributes say.
    """

    root: FileUnit
    files: list[FileUnit]
    main: ClassUnit | None
    properties: Properties

    def source_directory(self) -> Path:
        """Return the directory of the file that was asked for."""
        return self.root.source.path.resolve().parent

    def package_directory(self) -> Path:
        """Return the project's root: the parent of the nearest enclosing ``src``."""
        from reactorl.lf.link.packages import project_root

        return project_root(self.root.source.path)
