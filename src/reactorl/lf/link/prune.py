# SPDX-License-Identifier: Apache-2.0
"""Removes erroneous members from a program, so that the rest can be checked.

``reactorl check`` looks for causality loops and wrong widths even if a program has
other errors. Removing members never adds a loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from reactorl.diagnostics import Severity
from reactorl.lf.parse import syntax
from reactorl.lf.places import path_of, span_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit, LinkedProgram
    from reactorl.lf.source import Span

_M = TypeVar("_M", bound=syntax.Node)


def prune_errors(linked: LinkedProgram, report: Report) -> bool:
    """Remove members that have errors, and members that refer to those.

    Args:
        linked: The program. Its trees change: after this it can only be checked.
        report: Its errors.

    Returns:
        Whether the rest can be checked. False if a file did not parse.
    """
    units = [unit for file in linked.files for unit in file.own]
    if not all(file.is_whole for file in linked.files):
        return False
    if any(unit.is_damaged for unit in units):
        return False
    wrong: dict[Path, list[Span]] = {}
    for diagnostic in report.diagnostics:
        if diagnostic.severity is Severity.ERROR:
            span = span_of(diagnostic)
            if span is None:
                return False
            wrong.setdefault(path_of(diagnostic), []).append(span)
    unfit = {
        unit
        for unit in units
        if _remove_errors(unit, wrong.get(unit.file.source.path, []))
    }
    for unit in units:
        _remove_instances_of(unit, unfit)
    for unit in units:
        _remove_dangling(unit)
    return True


def _remove_errors(unit: ClassUnit, wrong: list[Span]) -> bool:
    """Remove members with errors; return whether the class has other errors.

    A parameter with an error stays, because arguments refer to it. Its default becomes
    code: code is not executed by ``check``, so everything that depends on the value is
    left unchecked.
    """
    inside = [span for span in wrong if _overlap(span, unit.tree.span)]
    covered: set[int] = set()

    def hits(node: syntax.Node) -> list[int]:
        return [k for k, span in enumerate(inside) if _overlap(span, node.span)]

    def is_correct(node: syntax.Node) -> bool:
        covered.update(hits(node))
        return not hits(node)

    def kept(members: Iterable[_M]) -> tuple[_M, ...]:
        found: list[_M] = []
        for member in members:
            if isinstance(member, syntax.Mode) and member.name is not None:
                found.append(replace(member, members=kept(member.members)))
            elif is_correct(member):
                found.append(member)
        modes = [m for m in found if isinstance(m, syntax.Mode)]
        if sum(mode.is_initial for mode in modes) != 1:  # which has been reported
            covered.update(k for m in modes for k in hits(m))
            found = [m for m in found if not isinstance(m, syntax.Mode)]
        return tuple(found)

    unknown = syntax.Code("None")
    params = tuple(
        param if is_correct(param) else replace(param, default=unknown)
        for param in unit.tree.params
    )
    unit.tree = replace(unit.tree, params=params, members=kept(unit.tree.members))
    return len(covered) < len(inside)


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


def _remove_instances_of(unit: ClassUnit, unfit: set[ClassUnit]) -> None:
    def fits(member: syntax.Member) -> bool:
        if not isinstance(member, syntax.Instance):
            return True
        child = unit.children.get(member.name.text)
        return child is not None and unfit.isdisjoint(child.lineage)

    _filter(unit, {id(p.member) for p in unit.own_parts() if fits(p.member)})


def _remove_dangling(unit: ClassUnit) -> None:
    """Remove connections, reactions and watchdogs that refer to removed members."""
    own: set[str] = set()
    contained: set[str] = set()
    for part in unit.parts():
        name = getattr(part.member, "name", None)
        if name is not None:
            own.add(name.text)
        if isinstance(part.member, syntax.Instance):
            contained.add(part.member.name.text)

    def exists(ref: syntax.Node) -> bool:
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
        {id(p.member) for p in unit.own_parts() if all(map(exists, refs(p.member)))},
    )
