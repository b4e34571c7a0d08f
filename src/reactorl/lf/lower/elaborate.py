# SPDX-License-Identifier: Apache-2.0
"""Building the Program of an LF program, with diagnostics instead of errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reactorl._program.elaborate import examine
from reactorl._program.faults import FAULTS, Faults
from reactorl.errors import CausalityError, WidthError
from reactorl.lf.diagnostics import Diagnostic, Severity
from reactorl.lf.lower.values import NotKnownError
from reactorl.lf.places import SourcePosition

if TYPE_CHECKING:
    from reactorl._program.program import Program
    from reactorl.errors import Hop
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit
    from reactorl.lf.lower.lower import Lowering

_INDEX = re.compile(r"\[\d+\]")
_TITLE = re.compile(r"\b(reaction \w+\.reaction) (\d+)")
"""A reaction, by the key that lowering gives it in its class."""


def elaborate_unit(
    unit: ClassUnit, lowering: Lowering, report: Report, *, pruned: bool = False
) -> Program | None:
    """Return the Program whose main reactor is ``unit``; None if it is not legal.

    Everything that is wrong is reported. Where code is not executed and the structure
    depends on it, that part is not judged, and the answer is None, too.

    Args:
        unit: The main reactor.
        lowering: Makes reactor classes.
        report: Where it is said what is wrong.
        pruned: Whether something was left out of the program. What is judged then is
            what does not depend on that: loops and widths.
    """
    faults = Faults()
    program = None
    try:
        program = examine(lowering.reactor_class(unit), faults)
    except FAULTS as refused:
        faults.note(refused)
    for error in faults:
        if isinstance(error, CausalityError):
            _report_loop(error, unit, report)
        elif isinstance(error, WidthError) or not (
            pruned or isinstance(error, NotKnownError)
        ):
            what = _words(error.what)
            _add(report, Severity.ERROR, what, error.where, unit, error.remedy)
    if program is None or pruned:
        return None
    for doubt in program.warnings:
        _add(report, Severity.WARNING, _words(doubt.what), doubt.where, unit)
    return program


def _add(
    report: Report,
    severity: Severity,
    what: str,
    where: object,
    unit: ClassUnit,
    help: str = "",
) -> None:
    source, span = unit.file.source, unit.tree.span
    if isinstance(where, SourcePosition):
        source, span = where.source, where.span
    report.add(Diagnostic(severity, what, source.path, source, span, help))


def _report_loop(error: CausalityError, unit: ClassUnit, report: Report) -> None:
    lines = [f"    {hop}" for hop in error.cycle]
    what = "reactions wait for each other at one tag:\n" + "\n".join(lines)
    _add(
        report, Severity.ERROR, what, error.cycle[0].where, unit, _way_out(error.cycle)
    )


def _way_out(cycle: tuple[Hop, ...]) -> str:
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
    """Return two ports as the reactor that connects them would write them."""
    one, other = (_INDEX.sub("", name).split(".") for name in (source, target))
    shared = 0
    while shared < min(len(one), len(other)) - 1 and one[shared] == other[shared]:
        shared += 1
    if shared == len(one) - 1 == len(other) - 1:
        shared -= 1  # both are ports of one reactor, which is the connecting one's
    return ".".join(one[shared:]), ".".join(other[shared:])


def _words(text: str) -> str:
    """Return what elaboration says in the words of LF."""
    return _TITLE.sub(r"\1_\2", text.replace("self.", ""))
