# SPDX-License-Identifier: Apache-2.0
"""Progress of the command on the terminal, and its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from benchmarks.harness.tables import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.claims import Claim

STYLES = {"kept": "green", "missed": "bold red", "not measured": "dim"}


class Display:
    """A progress bar on a terminal, lines elsewhere."""

    def __init__(self) -> None:
        self._console = Console()
        if not self._console.is_terminal:
            self._console.width = 160
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("setting up", total=None)
        self._total = self._done = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, total: int, already: int) -> None:
        """Start the bar: how much there is to measure, and was measured before."""
        self._total, self._done = total, already
        self._progress.reset(self._task, total=total - already)
        if already:
            self.say(f"{already} of {total} were measured before.")

    def case(self, label: str) -> None:
        """Show what runs now."""
        self._progress.update(self._task, description=label)
        if not self._console.is_terminal:
            self.say(f"[{self._done}/{self._total}] {label}")

    def advance(self) -> None:
        """Count a case set."""
        self._done += 1
        self._progress.advance(self._task)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, markup=False, highlight=False)
        self._progress.update(self._task, description=text.splitlines()[0][:60])

    def complain(self, text: str) -> None:
        """Print an error."""
        self._console.print(f"[bold red]{escape(text)}[/]", highlight=False)

    def markdown(self, text: str) -> None:
        """Print a report."""
        self._console.print(Markdown(text))

    def claims(self, claims: Sequence[Claim]) -> None:
        """Print the claims and their verdicts."""
        shown = Table(title="Claims", title_justify="left")
        shown.add_column("figure")
        for name in ("bound", "measured", "verdict"):
            shown.add_column(name, justify="right")
        for claim in claims:
            sign = "≤" if claim.at_most else "≥"
            value = claim.measured
            shown.add_row(
                escape(claim.text),
                f"{sign} {claim.bound:g}{claim.unit}",
                "" if value is None else f"{number_text(value.median)}{claim.unit}",
                f"[{STYLES[claim.verdict]}]{claim.verdict}[/]",
            )
        if claims:
            self._console.print(shown)
