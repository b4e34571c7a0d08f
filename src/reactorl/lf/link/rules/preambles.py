# SPDX-License-Identifier: Apache-2.0
"""Rules for preambles, and the names that they define for all bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.link.rules.python_check import check_file_preamble, defined_names
from reactorl.lf.parse import syntax

if TYPE_CHECKING:
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import FileUnit, LinkedProgram


def check(linked: LinkedProgram, report: Report) -> frozenset[str] | None:
    """Check the preambles of all files.

    Returns:
        The names that preambles of files define; None if unknown.
    """
    found: set[str] = set()
    is_known = True
    for file in linked.files:
        _warn_visibility(file, report)
        for preamble in file.tree.preambles:
            checked = check_file_preamble(file.source, preamble.code, report)
            names = defined_names(checked) if checked is not None else None
            is_known = is_known and names is not None
            found |= names or set()
    return frozenset(found) if is_known else None


def _warn_visibility(file: FileUnit, report: Report) -> None:
    preambles = list(file.tree.preambles)
    for unit in file.own:
        preambles += [
            part.member
            for part in unit.own_parts()
            if isinstance(part.member, syntax.Preamble)
        ]
    for preamble in preambles:
        if preamble.visibility is not None:
            what = f"'{preamble.visibility}' has no effect on a preamble in Python"
            report.warning(file.source, preamble.span, what, "Write only 'preamble'.")
