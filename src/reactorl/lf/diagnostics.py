# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a ``.lf`` file: what, where, and the way out.

Stages add to a ``Report`` and never raise for a mistake in a source. A diagnostic is
data; ``Diagnostic.render`` is the one place that makes prose of it::

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
"""Longer source lines are shown as an excerpt around the place."""


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong.

    Attributes:
        severity: Whether it keeps the program from running.
        what: The fact, lower case, without a full stop.
        path: The file at fault.
        source: Its text; None if it could not be read.
        span: The place in it; None if the file as a whole is meant.
        help: What to write instead; sentences. May be empty.
    """

    severity: Severity
    what: str
    path: Path
    source: Source | None = None
    span: Span | None = None
    help: str = ""

    @property
    def place(self) -> tuple[int, int]:
        """Line and column, from 1; (1, 1) if the file as a whole is meant."""
        if self.source is None or self.span is None:
            return 1, 1
        return self.source.line_and_column(self.span.start)

    def render(self) -> str:
        """Return it as text: the place, the source line with a caret, the way out."""
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
        # Tabs stay tabs, so that the caret stands where the reader's editor puts it.
        pad = "".join("\t" if c == "\t" else " " for c in before)
        margin = " " * len(str(line))
        return [f"  {line} | {text}", f"  {margin} | {pad}{'^' * width}"]


@dataclass
class Report:
    """What was found so far, by all stages, about all files.

    Attributes:
        diagnostics: What was found, in the order it was.
        files: Files in the order they were met, whether or not something is wrong.
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
        """Note something that keeps the program from running."""
        self.add(Diagnostic(Severity.ERROR, what, source.path, source, span, help))

    def warning(
        self,
        source: Source,
        span: Span,
        what: str,
        help: str = "",
    ) -> None:
        """Note something legal that is probably not meant, or an old form."""
        self.add(Diagnostic(Severity.WARNING, what, source.path, source, span, help))

    def add(self, diagnostic: Diagnostic) -> None:
        """Note a diagnostic, once."""
        if diagnostic not in self._known:
            self._known.add(diagnostic)
            self.diagnostics.append(diagnostic)

    def meet(self, path: Path) -> None:
        """Note that a file is looked at, for the order of files."""
        self.files.setdefault(path)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)

    def in_order(self) -> list[Diagnostic]:
        """Return all: files in the order they were met, each from top to bottom."""
        paths = dict.fromkeys([*self.files, *(d.path for d in self.diagnostics)])
        order = {path: n for n, path in enumerate(paths)}
        return sorted(self.diagnostics, key=lambda d: (order[d.path], d.place))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return advice for an unknown name: the nearest known one, or all of them."""
    names = sorted(set(known))
    listed = f"There is: {', '.join(names)}." if 0 < len(names) <= 12 else ""
    return did_you_mean(name, names) or listed
