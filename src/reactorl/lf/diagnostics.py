# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of ``.lf`` files: error, position and remedy.

Stages add diagnostics to a ``Report`` and never raise for an error in a source file. A
diagnostic is data; only ``Diagnostic.render`` formats it as text::

    hello.lf:4:12: error: reactor Hello has no port 'sensr'
      4 |   reaction(sensr) {= print("hi") =}
        |            ^^^^^
      help: Did you mean 'sensor'?
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from reactorl._util.suggestions import did_you_mean
from reactorl.position import Position

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reactorl.lf.source import Source, Span

LONGEST_LINE = 160
"""Of longer source lines only an excerpt around the position is shown."""


class Severity(StrEnum):
    """Whether a diagnostic prevents the program from running."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning.

    Attributes:
        severity: Error or warning.
        what: What is wrong, in lower case, without a full stop.
        path: The file.
        source: Its text; None if it could not be read.
        span: The position in it; None for the file as a whole.
        help: The remedy, in full sentences. May be empty.
    """

    severity: Severity
    what: str
    path: Path
    source: Source | None = None
    span: Span | None = None
    help: str = ""

    @property
    def place(self) -> tuple[int, int]:
        """Line and column, from 1; (1, 1) for the file as a whole."""
        if self.source is None or self.span is None:
            return 1, 1
        return self.source.line_and_column(self.span.start)

    def render(self) -> str:
        """Return it as text: position, message, source line with a caret, remedy."""
        line, column = self.place
        shown = Position(str(self.path), line)
        lines = [f"{shown}:{column}: {self.severity}: {self.what}"]
        if self.source is not None and self.span is not None:
            lines += self._excerpt(self.source, self.span, line, column)
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)

    @staticmethod
    def _excerpt(source: Source, span: Span, line: int, column: int) -> list[str]:
        text = source.line(line)
        width = max(1, min(span.end - span.start, len(text) - column + 1))
        before = text[: column - 1]
        if len(text) > LONGEST_LINE:
            cut = max(0, column - 1 - LONGEST_LINE // 2)
            text = text[cut : cut + LONGEST_LINE]
            before = before[cut:]
            width = max(1, min(width, LONGEST_LINE - len(before)))
        text = "".join(
            c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}"
            for c in text
        )
        # Tabs stay tabs, so that the caret is below the column in any editor.
        pad = "".join("\t" if c == "\t" else " " for c in before)
        margin = " " * len(str(line))
        return [f"  {line} | {text}", f"  {margin} | {pad}{'^' * width}"]


@dataclass
class Report:
    """The diagnostics of all stages and all files.

    Attributes:
        diagnostics: The diagnostics, in the order they were added.
        files: All files in the order of reading, with and without diagnostics.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: dict[Path, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = set(self.diagnostics)

    def error(
        self,
        source: Source,
        span: Span,
        what: str,
        help: str = "",
    ) -> None:
        """Add an error."""
        self.add(Diagnostic(Severity.ERROR, what, source.path, source, span, help))

    def warning(
        self,
        source: Source,
        span: Span,
        what: str,
        help: str = "",
    ) -> None:
        """Add a warning: something legal that is probably a mistake, or an old form."""
        self.add(Diagnostic(Severity.WARNING, what, source.path, source, span, help))

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
        paths = dict.fromkeys([*self.files, *(d.path for d in self.diagnostics)])
        order = {path: n for n, path in enumerate(paths)}
        return sorted(self.diagnostics, key=lambda d: (order[d.path], d.place))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name: the most similar one, or all names."""
    names = sorted(set(known))
    listed = f"Available: {', '.join(names)}." if 0 < len(names) <= 12 else ""
    return did_you_mean(name, names) or listed
