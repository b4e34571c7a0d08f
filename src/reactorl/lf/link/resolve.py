# SPDX-License-Identifier: Apache-2.0
"""Links a program: resolves the classes that its files name, and checks all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.diagnostics import nearest
from reactorl.lf.link.cycles import walk
from reactorl.lf.link.imports import read_files
from reactorl.lf.link.program import ClassUnit, LinkedProgram
from reactorl.lf.link.properties import read_properties
from reactorl.lf.link.rules import check
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import FileUnit


def resolve(path: Path, report: Report) -> LinkedProgram | None:
    """Return the linked program of a file and its imports.

    Args:
        path: The root file.
        report: Receives all diagnostics.

    Returns:
        The linked program; it can be run only if the report has no error. None if the
        file could not be read, or no reactor could be parsed.
    """
    files = read_files(path, report)
    if not files:
        return None
    for file in files:
        for unit in file.own:
            _link_bases(unit, report)
    classes = [unit for file in files for unit in file.own]
    _linearise(classes, report)
    for unit in classes:
        _link_children(unit, report)
    _report_containment(classes, report)
    main = next((u for u in files[0].own if u.tree.kind), None)
    properties = read_properties(files, main, report)
    linked = LinkedProgram(files[0], files, main, properties)
    check(linked, report)
    return linked if files[0].own else None


def _find_class(file: FileUnit, name: syntax.Name, report: Report) -> ClassUnit | None:
    found = file.names.get(name.text)
    if found is not None and found.tree.kind:
        kind = found.tree.kind
        what = f"'{name.text}' is the {kind} reactor and cannot be part of another"
        advice = f"Move the shared members to a reactor that is not {kind}."
        report.error(file.source, name.span, what, advice)
        return None
    if found is None and name.text not in file.lost and file.is_whole:
        what = f"unknown reactor '{name.text}'"
        known = [n for n, unit in file.names.items() if not unit.tree.kind]
        advice = nearest(name.text, known) or "Declare or import it."
        report.error(file.source, name.span, what, advice)
    return found


def _link_bases(unit: ClassUnit, report: Report) -> None:
    bases: list[ClassUnit] = []
    for name in unit.tree.bases:
        base = _find_class(unit.file, name, report)
        if base is None:
            unit.is_damaged = True
        elif base in bases:
            what = f"reactor {unit.name} extends '{name.text}' twice"
            report.error(unit.file.source, name.span, what, "Remove one of the two.")
        else:
            bases.append(base)
    unit.bases = tuple(bases)


def _linearise(classes: list[ClassUnit], report: Report) -> None:
    """Set the lineage of every class; cyclic bases are reported and removed."""
    found = walk(classes, lambda u: [((u, base), base) for base in u.bases])
    for cycle in found.cycles:
        unit, base = cycle.closing
        name = next(n for n in unit.tree.bases if unit.file.names.get(n.text) is base)
        if cycle.length == 1:
            what = f"reactor {unit.name} extends itself"
        else:
            way = cycle.show(lambda u: u.name, " extends ")
            what = f"inheritance is cyclic: {way}"
        report.error(unit.file.source, name.span, what, "Remove one 'extends'.")
        unit.bases = tuple(b for b in unit.bases if b is not base)
        unit.is_damaged = True
    for unit in found.order:
        inherited = [ancestor for base in unit.bases for ancestor in base.lineage]
        unit.lineage = (*dict.fromkeys(inherited), unit)


def _link_children(unit: ClassUnit, report: Report) -> None:
    for part in unit.own_parts():
        if isinstance(part.member, syntax.Instance):
            found = _find_class(unit.file, part.member.class_name, report)
            if found is not None:
                unit.children.setdefault(part.member.name.text, found)


def _report_containment(classes: list[ClassUnit], report: Report) -> None:
    def contained(unit: ClassUnit) -> list[tuple[tuple[ClassUnit, str], ClassUnit]]:
        return [
            ((ancestor, name), child)
            for ancestor in unit.lineage
            for name, child in ancestor.children.items()
        ]

    for cycle in walk(classes, contained).cycles:
        unit, name = cycle.closing
        instance = next(
            part.member
            for part in unit.own_parts()
            if isinstance(part.member, syntax.Instance)
            and part.member.name.text == name
        )
        if cycle.length == 1:
            what = f"reactor {cycle.nodes[0].name} contains itself"
        else:
            way = cycle.show(lambda u: u.name, " contains ")
            what = f"containment is cyclic: {way}"
        advice = "Remove one of the instances; the hierarchy would be infinite."
        report.error(unit.file.source, instance.class_name.span, what, advice)
