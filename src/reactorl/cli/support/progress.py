# SPDX-License-Identifier: Apache-2.0
"""How far a training is, and showing it: live on a terminal, else in plain lines."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from reactorl._util.formatting import format_number, format_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reactorl.rl.flow.task import Round, Task

EVERY_LIVE = 0.2
EVERY_PLAIN = 1.0
"""How many seconds there are at least between two pictures, or lines."""
_WINDOW = 3.0
"""How many seconds speeds are the mean of."""


class Progress:
    """What is known of a training under way.

    Args:
        flow: What is trained.
        done: How many rounds were done before.
        returns: Of episodes that ended before.
        title: What to call it.
    """

    def __init__(
        self, flow: Task, done: int, returns: Iterable[float] = (), *, title: str
    ) -> None:
        self.flow = flow
        self.title = title
        self.done = self.first = done
        self.returns: deque[float] = deque(returns, maxlen=100)
        self.loss: float | None = None
        self.evaluated: float | None = None
        self.note = ""
        self.began = time.monotonic()
        # When, how many rounds, and how much processor time by then.
        self._marks = deque([(self.began, done, time.process_time())])

    def add(self, found: Round) -> None:
        """Count a round."""
        self.done = found.number
        self.returns.extend(episode.score for episode in found.episodes)
        for key, value in (found.metrics or {}).items():
            if key.startswith("losses/"):
                self.loss = value
                break
        if found.evaluation is not None:
            self.evaluated = found.evaluation.mean

    def mark(self, now: float) -> None:
        """Note the time, for speeds."""
        self._marks.append((now, self.done, time.process_time()))
        while len(self._marks) > 2 and now - self._marks[1][0] > _WINDOW:
            self._marks.popleft()

    @property
    def steps(self) -> int:
        """How many steps were made, in all."""
        return self.done * self.flow.steps_per_round

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What to show: names and values."""
        (before, rounds, used), (now, done, used_now) = self._marks[0], self._marks[-1]
        passed = max(now - before, 1e-9)
        total = self.flow.rounds * self.flow.steps_per_round
        rows = [
            ("steps", f"{self.steps:,} of {total:,}"),
            ("steps/s", f"{(done - rounds) * self.flow.steps_per_round / passed:,.0f}"),
            ("return, last 100", _mean(self.returns)),
            ("evaluation", format_number(self.evaluated)),
            ("loss", format_number(self.loss)),
            ("cores busy", f"{(used_now - used) / passed:.1f} of {os.cpu_count()}"),
            ("time left", self._left(now)),
        ]
        return [*rows, ("", self.note)] if self.note else rows

    def _left(self, now: float) -> str:
        here = self.done - self.first
        if not here:
            return "-"
        return format_seconds(
            (now - self.began) / here * (self.flow.rounds - self.done)
        )


class Display:
    """Shows progress on stderr, no more often than somebody can read.

    A context manager. On a terminal there is one picture that changes; otherwise there
    are lines.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._live: Any = None
        self._next = time.monotonic()

    def __enter__(self) -> Display:
        """Take the terminal, if it is one."""
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            self._live = Live(self._picture(), console=console, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Show the last state, and let go of the terminal."""
        self.show(time.monotonic())
        if self._live is not None:
            self._live.stop()

    def update(self) -> None:
        """Show how far it is, if it is time."""
        now = time.monotonic()
        if now >= self._next:
            self.show(now)

    def show(self, now: float) -> None:
        """Show how far it is."""
        self._next = now + (EVERY_PLAIN if self._live is None else EVERY_LIVE)
        self._progress.mark(now)
        if self._live is not None:
            self._live.update(self._picture(), refresh=True)
            return
        shown = "  ".join(f"{n} {v}".strip() for n, v in self._progress.rows)
        with suppress(BrokenPipeError):
            print(shown, file=sys.stderr, flush=True)

    def _picture(self) -> Any:  # noqa: ANN401
        from rich.panel import Panel
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        progress = self._progress
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", style="dim")
        table.add_column()
        bar = ProgressBar(total=progress.flow.rounds, completed=progress.done, width=40)
        table.add_row("", bar)
        for name, value in progress.rows:
            table.add_row(name, value)
        return Panel(table, title=progress.title, expand=False)


def table(rows: list[tuple[str, str]]) -> str:
    """Return names and values as aligned lines."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)


def _mean(values: deque[float]) -> str:
    return format_number(sum(values) / len(values)) if values else "-"
