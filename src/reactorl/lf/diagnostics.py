# SPDX-License-Identifier: Apache-2.0
"""The report: diagnostics of ``.lf`` files, from all stages.

Stages add diagnostics to a ``Report`` and never raise for an error in a source file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reactorl._util.suggestions import did_you_mean
from reactorl.diagnostics import Diagnostic, Severity
from reactorl.lf.places import path_of, position
from reactorl.position import Position

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reactorl.lf.source import Source, Span


@dataclass
class Report:
    """The diagnostics of all stages about all files.

    Attributes:
        diagnostics: In the order in which they were found.
        files: Files in the order of reading, with and without diagnostics.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: dict[Path, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = set(self.diagnostics)

    def error(self, source: Source, span: Span, what: str, remedy: str = "") -> None:
        """Add an error."""
        self.add(Diagnostic(what, position(source, span), remedy))

    def warning(self, source: Source, span: Span, what: str, remedy: str = "") -> None:
        """Add a warning: something legal that is probably a mistake, or an old form."""
        where = position(source, span)
        self.add(Diagnostic(what, where, remedy, Severity.WARNING))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic, unless it was added before."""
        if diagnostic not in self._known:
            self._known.add(diagnostic)
            self.diagnostics.append(diagnostic)

    def add_file(self, path: Path) -> None:
        """Add a file, which determines the order of files."""
        self.files.setdefault(path)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)

    def in_order(self) -> list[Diagnostic]:
        """Return all diagnostics by file, in the order of reading, and by position."""
        paths = dict.fromkeys([*self.files, *map(path_of, self.diagnostics)])
        order = {path: n for n, path in enumerate(paths)}

        def key(diagnostic: Diagnostic) -> tuple[int, int, int]:
            where = diagnostic.where
            assert where is not None
            return order[path_of(diagnostic)], where.line, where.column

        return sorted(self.diagnostics, key=key)


def about_file(
    path: Path,
    what: str,
    remedy: str = "",
    *,
    severity: Severity = Severity.ERROR,
    code: str = "",
) -> Diagnostic:
    """Return a diagnostic about a file as a whole."""
    return Diagnostic(what, Position(str(path), 1, 1), remedy, severity, code)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the most similar one, or all names."""
    names = sorted(set(known))
    listed = f"Available: {', '.join(names)}." if 0 < len(names) <= 12 else ""
    return did_you_mean(name, names) or listed
