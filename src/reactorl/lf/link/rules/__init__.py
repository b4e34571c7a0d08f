# SPDX-License-Identifier: Apache-2.0
"""Rules that a program must keep, one topic per module.

Each rule looks at what a class itself says; names are looked up in all it inherits.
So every mistake is reported once, where it was made.
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
    """Note every rule that a linked breaks, file by file."""
    scopes = Scopes()
    globals_ = preambles.check(linked, report)
    for file in linked.files:
        files.check(file, report, is_root=file is linked.root)
        for unit in file.own:
            context = Context(unit, scopes, globals_, report)
            for rule in _RULES:
                rule.check(context)
