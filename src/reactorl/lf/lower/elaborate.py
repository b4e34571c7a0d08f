# SPDX-License-Identifier: Apache-2.0
"""Elaborates a lowered class, and reports errors as LF diagnostics."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from reactorl._program.elaborate import Analysis, analyze
from reactorl._program.errors import PROGRAM_ERRORS
from reactorl.errors import CausalityError, WidthError
from reactorl.lf.lower.values import NotKnownError
from reactorl.lf.places import SourcePosition, position

if TYPE_CHECKING:
    from reactorl._program.program import Program
    from reactorl.diagnostics import Diagnostic
    from reactorl.errors import Hop
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit
    from reactorl.lf.lower.lower import Lowering

_INDEX = re.compile(r"\[\d+\]")


def elaborate_unit(
    unit: ClassUnit, lowering: Lowering, report: Report, *, pruned: bool = False
) -> Program | None:
    """Return the Program whose main reactor is ``unit``; None if it has errors.

    If code is not executed and the structure depends on it, that part is not checked,
    and the result is None, too.

    Args:
        unit: The main reactor.
        lowering: Makes reactor classes.
        report: Receives all errors and warnings.
        pruned: Whether members were removed from the program. Then only loops and
            widths are reported, because other errors may be consequences.
    """
    try:
        found = analyze(lowering.reactor_class(unit))
    except PROGRAM_ERRORS as raised:
        found = Analysis(None, (raised,))
    for error in found.errors:
        if isinstance(error, CausalityError):
            report.add(_with_position(_loop(error), unit))
        elif isinstance(error, WidthError) or not (
            pruned or isinstance(error, NotKnownError)
        ):
            report.add(_with_position(error.diagnostic, unit))
    if found.program is None or found.errors or pruned:
        return None
    for warning in found.program.warnings:
        report.add(_with_position(warning, unit))
    return found.program


def _with_position(diagnostic: Diagnostic, unit: ClassUnit) -> Diagnostic:
    """Return a diagnostic with a position in the source, else the main reactor's."""
    if isinstance(diagnostic.where, SourcePosition):
        return diagnostic
    return replace(diagnostic, where=position(unit.file.source, unit.tree.span))


def _loop(error: CausalityError) -> Diagnostic:
    """Return the diagnostic of a causality loop with a remedy in LF's syntax."""
    what = "reactions wait for each other at one tag"
    return replace(error.diagnostic, what=what, remedy=_remedy(error.cycle))


def _remedy(cycle: tuple[Hop, ...]) -> str:
    for hop in reversed(cycle):
        if hop.by_connection:
            source, target = _local(hop.source, hop.target)
            return (
                "Delay one of the connections; with "
                f"'{source} -> {target} after 0' the value arrives one microstep later."
            )
    for hop in cycle:
        if hop.by_order:
            return "Change the order of the reactions, or use an action."
    return "Use an action, which takes effect one microstep later."


def _local(source: str, target: str) -> tuple[str, str]:
    """Return two ports as they are written in the reactor that connects them."""
    one, other = (_INDEX.sub("", name).split(".") for name in (source, target))
    shared = 0
    while shared < min(len(one), len(other)) - 1 and one[shared] == other[shared]:
        shared += 1
    if shared == len(one) - 1 == len(other) - 1:
        shared -= 1  # both are ports of one contained reactor
    return ".".join(one[shared:]), ".".join(other[shared:])
