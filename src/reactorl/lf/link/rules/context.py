# SPDX-License-Identifier: Apache-2.0
"""What a rule is given: a class, what names mean in it, and where to note mistakes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from reactorl.lf.link.rules.hidden_names import hidden_names

if TYPE_CHECKING:
    from reactorl.lf.diagnostics import Report
    from reactorl.lf.link.program import ClassUnit
    from reactorl.lf.link.scope import Scope, Scopes
    from reactorl.lf.parse.syntax import Node
    from reactorl.lf.source import Source


class Context:
    """A class to be checked.

    Attributes:
        unit: The class.
        scope: What names mean in it.
        source: The file it stands in.
        globals: Names that preambles of files give to all bodies;
            None if that is not known.
    """

    def __init__(
        self,
        unit: ClassUnit,
        scopes: Scopes,
        globals_: frozenset[str] | None,
        report: Report,
    ) -> None:
        self.unit = unit
        self.scopes = scopes
        self.scope = scopes.of(unit)
        self.source: Source = unit.file.source
        self.report = report
        self.globals = globals_

    def error(self, node: Node, what: str, help: str = "") -> None:
        """Note something that keeps the program from running."""
        if node.span not in self.unit.file.told:
            self.report.error(self.source, node.span, what, help)

    def warning(self, node: Node, what: str, help: str = "") -> None:
        """Note something legal that is probably not meant, or an old form."""
        self.report.warning(self.source, node.span, what, help)

    def child(self, name: str) -> Scope | None:
        """Return what names mean in a contained reactor, if its class is known."""
        return self.scopes.child(self.unit, name)

    @cached_property
    def hidden(self) -> dict[str, tuple[str, str]]:
        """What bodies see only through their signature, and what to say about it."""
        return hidden_names(self.scope, self.scopes)
