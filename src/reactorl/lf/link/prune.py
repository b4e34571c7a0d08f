# SPDX-License-Identifier: Apache-2.0
"""What is left of a linked without what is known to be wrong.

So that loops and widths can be judged in the same go as everything else. A program with
something left out has no loop that the whole one does not have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from reactorl.lf.diagnostics import Severity
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit, LinkedProgram
    from reactorl.lf.source import Span

_M = TypeVar("_M", bound=syntax.Node)


def prune_errors(linked: LinkedProgram, report: Report) -> bool:
    """Take members out of a linked that are wrong, or mention what is.

    Args:
        linked: Its trees change: it is of no use for anything but being judged.
        report: What is known to be wrong.

    Returns:
        Whether something is left to judge. A file that did not parse is not.
    """
    units = [unit for file in linked.files for unit in file.own]
    if not all(file.is_whole for file in linked.files):
        return False
    if any(unit.is_damaged for unit in units):
        return False
    wrong: dict[Path, list[Span]] = {}
    for diagnostic in report.diagnostics:
        if diagnostic.severity is Severity.ERROR:
            if diagnostic.span is None:
                return False
            wrong.setdefault(diagnostic.path, []).append(diagnostic.span)
    unfit = {
        id(unit)
        for unit in units
        if _without_wrong(unit, wrong.get(unit.file.source.path, []))
    }
    for unit in units:
        _without_instances_of(unit, unfit)
    for unit in units:
        _without_dangling(unit)
    return True


def _without_wrong(unit: ClassUnit, wrong: list[Span]) -> bool:
    """Take out what has an error in it; return whether an error is left over."""
    inside = [span for span in wrong if _overlap(span, unit.tree.span)]
    told: set[int] = set()

    def hits(member: syntax.Node) -> list[int]:
        return [k for k, span in enumerate(inside) if _overlap(span, member.span)]

    def right(member: syntax.Node) -> bool:
        told.update(hits(member))
        return not hits(member)

    def kept(members: Iterable[_M]) -> tuple[_M, ...]:
        found: list[_M] = []
        for member in members:
            if isinstance(member, syntax.Mode):
                found.append(replace(member, members=kept(member.members)))
            elif right(member):
                found.append(member)
        modes = [m for m in found if isinstance(m, syntax.Mode)]
        if sum(mode.is_initial for mode in modes) != 1:  # and that has been said
            told.update(k for m in modes for k in hits(m))
            found = [m for m in found if not isinstance(m, syntax.Mode)]
        return tuple(found)

    unit.tree = replace(unit.tree, members=kept(unit.tree.members))
    return len(told) < len(inside)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _filter(unit: ClassUnit, keep: set[int]) -> None:
    def kept(members: Iterable[_M]) -> tuple[_M, ...]:
        return tuple(
            replace(m, members=kept(m.members)) if isinstance(m, syntax.Mode) else m
            for m in members
            if isinstance(m, syntax.Mode) or id(m) in keep
        )

    unit.tree = replace(unit.tree, members=kept(unit.tree.members))


def _without_instances_of(unit: ClassUnit, unfit: set[int]) -> None:
    def fits(member: syntax.Member) -> bool:
        if not isinstance(member, syntax.Instance):
            return True
        child = unit.children.get(member.name.text)
        return child is not None and not any(id(u) in unfit for u in child.lineage)

    _filter(unit, {id(p.member) for p in unit.own_parts() if fits(p.member)})


def _without_dangling(unit: ClassUnit) -> None:
    """Take out connections and reactions that mention what is not there."""
    own: set[str] = set()
    contained: set[str] = set()
    for part in unit.parts():
        name = getattr(part.member, "name", None)
        if name is not None:
            own.add(name.text)
        if isinstance(part.member, syntax.Instance):
            contained.add(part.member.name.text)

    def stands(ref: syntax.Node) -> bool:
        if isinstance(ref, syntax.ModeChange):
            return ref.mode.text in own
        if not isinstance(ref, syntax.Ref):
            return True
        if ref.container is None:
            return ref.name.text in own
        child = unit.child_class(ref.container.text)
        if child is None or ref.container.text not in contained:
            return False
        return any(
            isinstance(p.member, syntax.Port) and p.member.name.text == ref.name.text
            for p in child.parts()
        )

    def refs(member: syntax.Member) -> Iterable[syntax.Node]:
        match member:
            case syntax.Connection():
                return (*member.left, *member.right)
            case syntax.Reaction():
                return (*(member.triggers or ()), *member.sources, *member.effects)
            case syntax.Watchdog():
                return member.effects
        return ()

    _filter(
        unit,
        {id(p.member) for p in unit.own_parts() if all(map(stands, refs(p.member)))},
    )
