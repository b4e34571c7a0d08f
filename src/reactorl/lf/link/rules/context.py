# SPDX-License-Identifier: Apache-2.0
"""The argument of every rule: a class, its scope, and the report."""

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
        scope: Its names.
        source: Its file.
        globals: Names that preambles of files define for all bodies; None if unknown.
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
        """Report an error, unless a syntax error was reported at the same span."""
        if node.span not in self.unit.file.reported:
            self.report.error(self.source, node.span, what, help)

    def warning(self, node: Node, what: str, help: str = "") -> None:
        """Report something legal that is probably a mistake, or an old form."""
        self.report.warning(self.source, node.span, what, help)

    def child(self, name: str) -> Scope | None:
        """Return the scope of a contained reactor, if its class is known."""
        return self.scopes.child(self.unit, name)

    @cached_property
    def hidden(self) -> dict[str, tuple[str, str]]:
        """Names that a body can use only if its signature declares them."""
        return hidden_names(self.scope, self.scopes)
