# SPDX-License-Identifier: Apache-2.0
"""Rules for whole files: target declaration, names of classes, main reactor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.lf.source import Span

if TYPE_CHECKING:
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit, FileUnit

_NAMED: Final = "The program has the name of its file."


def check(file: FileUnit, report: Report, *, is_root: bool) -> None:
    """Check the target declaration, the names of classes, and the main reactor."""
    if is_root and file.tree.target is None and file.is_whole:
        what = "missing target declaration"
        report.error(file.source, Span(0, 1), what, "Begin with 'target Python'.")
    if not file.own and file.is_whole:
        end = len(file.source.text.rstrip())
        at = Span(max(0, end - 1), end)
        advice = "Declare one, for example 'main reactor { }'."
        report.error(file.source, at, "the file declares no reactor", advice)
    _check_names(file, report)
    _check_main(file, report)


def _check_names(file: FileUnit, report: Report) -> None:
    seen: dict[str, ClassUnit] = {}
    for unit in file.own:
        reactor = unit.tree
        if reactor.name is None:
            if not reactor.kind:
                what = "this reactor has no name"
                advice = "Only a main or federated reactor can be unnamed."
                report.error(file.source, reactor.span, what, advice)
            continue
        if unit.name in seen:
            line, _ = file.source.line_and_column(seen[unit.name].tree.span.start)
            what = f"reactor '{unit.name}' is already declared on line {line}"
            report.error(file.source, reactor.name.span, what, "Rename one of them.")
        else:
            seen[unit.name] = unit


def _check_main(file: FileUnit, report: Report) -> None:
    mains = [unit for unit in file.own if unit.tree.kind]
    stem = file.source.path.stem
    for n, unit in enumerate(mains):
        name = unit.tree.name
        at = name.span if name is not None else _head(unit)
        if n > 0:
            what = "a file must have at most one main or federated reactor"
            advice = f"Remove '{unit.tree.kind}'."
            report.error(file.source, at, what, advice)
        elif name is not None and name.text != stem:
            what = f"the {unit.tree.kind} reactor must be named like its file, '{stem}'"
            advice = f"Name it '{stem}', or omit the name."
            report.error(file.source, name.span, what, advice)
        elif stem[:1].isdigit():
            name_ = file.source.path.name
            what = f"the file name '{name_}' must not start with a digit"
            report.error(file.source, at, what, _NAMED)
        elif not _is_text(stem):
            what = f"the file name {file.source.path.name!r} must be UTF-8"
            report.error(file.source, at, what, _NAMED)


def _is_text(name: str) -> bool:
    """Return whether a name is text; other bytes are surrogates in paths of Python."""
    return not any("\ud800" <= c <= "\udfff" for c in name)


def _head(unit: ClassUnit) -> Span:
    """Return the span of the keyword 'main' or 'federated'."""
    tree, text = unit.tree, unit.file.source.text
    after = tree.attributes[-1].span.end if tree.attributes else tree.span.start
    start = max(tree.span.start, text.find(unit.tree.kind, after))
    return Span(start, start + len(unit.tree.kind))
