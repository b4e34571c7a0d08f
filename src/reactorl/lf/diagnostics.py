# SPDX-License-Identifier: Apache-2.0
"""The report of a compilation: diagnostics about ``.lf`` files.

Stages add to a ``Report`` and never raise for a mistake in a source.
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
        files: Files in the order in which they were read, with or without mistakes.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: dict[Path, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = set(self.diagnostics)

    def error(self, source: Source, span: Span, what: str, remedy: str = "") -> None:
        """Add a mistake that keeps the program from running."""
        self.add(Diagnostic(what, position(source, span), remedy))

    def warning(self, source: Source, span: Span, what: str, remedy: str = "") -> None:
        """Add something legal that is probably not intended, or an old form."""
        where = position(source, span)
        self.add(Diagnostic(what, where, remedy, Severity.WARNING))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic, once."""
        if diagnostic not in self._known:
            self._known.add(diagnostic)
            self.diagnostics.append(diagnostic)

    def meet(self, path: Path) -> None:
        """Note that a file is read, for the order of files."""
        self.files.setdefault(path)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)

    def in_order(self) -> list[Diagnostic]:
        """Return all: files in the order they were read, each from top to bottom."""
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
    """Return the remedy for an unknown name: the nearest known one, or all of them."""
    names = sorted(set(known))
    listed = f"There is: {', '.join(names)}." if 0 < len(names) <= 12 else ""
    return did_you_mean(name, names) or listed
