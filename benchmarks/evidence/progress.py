# SPDX-License-Identifier: Apache-2.0
"""What the command shows while it works: what runs, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console
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

from benchmarks.evidence.tables import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from benchmarks.evidence.claims import Claim

STYLES = {"kept": "green", "missed": "bold red", "not measured": "dim"}


class Display:
    """A bar on a terminal, lines elsewhere."""

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def begin(self, total: int, already: int) -> None:
        """Say how much there is to measure, and how much was measured before."""
        self._total, self._done = total, already
        self._progress.reset(self._task, total=total - already)
        if already:
            self.say(f"{already} of {total} were measured before, and are kept.")

    def turn(self, label: str) -> None:
        """Say what runs now."""
        self._progress.update(self._task, description=label)
        if not self._console.is_terminal:
            self.say(f"[{self._done}/{self._total}] {label}")

    def advance(self) -> None:
        """Count what was measured."""
        self._done += 1
        self._progress.advance(self._task)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, markup=False, highlight=False)
        self._progress.update(self._task, description=text.splitlines()[0][:60])

    def complain(self, text: str) -> None:
        """Print what went wrong."""
        self._console.print(f"[bold red]{escape(text)}[/]", highlight=False)

    def claims(self, claims: Sequence[Claim]) -> None:
        """Print what must hold, and whether it does."""
        shown = Table(title="What it must show", title_justify="left")
        shown.add_column("figure")
        for name in ("must be", "measured", ""):
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
