# SPDX-License-Identifier: Apache-2.0
"""Rules of the language, one topic per module.

Each rule checks the members that a class declares itself and looks names up in all base
classes, so that every error is reported once, in the class that contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reactorl.lf.link.rules import (
    attributes,
    bodies,
    classes,
    connections,
    expressions,
    files,
    instances,
    modes,
    names,
    preambles,
    reactions,
    times,
    types,
    widths,
    writers,
)
from reactorl.lf.link.rules.context import Context
from reactorl.lf.link.scope import Scopes

if TYPE_CHECKING:
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import LinkedProgram

_RULES = (
    classes,
    names,
    types,
    attributes,
    expressions,
    times,
    widths,
    instances,
    modes,
    reactions,
    connections,
    writers,
    bodies,
)


def check(linked: LinkedProgram, report: Report) -> None:
    """Report all violations of rules, file by file."""
    scopes = Scopes()
    globals_ = preambles.check(linked, report)
    for file in linked.files:
        files.check(file, report, is_root=file is linked.root)
        for unit in file.own:
            context = Context(unit, scopes, globals_, report)
            for rule in _RULES:
                rule.check(context)
