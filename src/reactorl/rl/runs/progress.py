# SPDX-License-Identifier: Apache-2.0
"""The progress of a training run, shown live on a terminal, else as plain lines."""

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

    from reactorl.rl.flow.evaluation import PlayProgress
    from reactorl.rl.flow.task import Iteration, Task

EVERY_LIVE = 0.2
EVERY_PLAIN = 1.0
"""Least number of seconds between two updates of the display, or lines."""
_WINDOW = 3.0
"""Window in seconds over which speeds are averaged."""


class Progress:
    """The state of a training run, for display.

    Args:
        task: What is trained.
        done: Number of iterations done before.
        returns: Of episodes that ended before.
        title: Title of the display.
    """

    def __init__(
        self, task: Task, done: int, returns: Iterable[float] = (), *, title: str
    ) -> None:
        self.task = task
        self.title = title
        self.done = self.first = done
        self.returns: deque[float] = deque(returns, maxlen=100)
        self.loss: float | None = None
        self.evaluated: float | None = None
        self.cut = ""
        """How many episodes of the last evaluation were cut."""
        self.evaluating: PlayProgress | None = None
        """The evaluation that is under way."""
        self.note = ""
        self.began = time.monotonic()
        # Time, number of iterations, and processor time until then.
        self._marks = deque([(self.began, done, time.process_time())])

    def add(self, found: Iteration) -> None:
        """Add an iteration."""
        self.done = found.number
        self.returns.extend(episode.episode_return for episode in found.episodes)
        for key, value in (found.metrics or {}).items():
            if key.startswith("losses/"):
                self.loss = value
                break
        if found.evaluation is not None:
            self.evaluated = found.evaluation.mean
            count, total = found.evaluation.num_cut, len(found.evaluation.episodes)
            self.cut = f" ({count} of {total} episodes cut)" if count else ""

    def mark(self, now: float) -> None:
        """Record the time, for speeds."""
        self._marks.append((now, self.done, time.process_time()))
        while len(self._marks) > 2 and now - self._marks[1][0] > _WINDOW:
            self._marks.popleft()

    @property
    def steps(self) -> int:
        """Number of environment steps."""
        return self.done * self.task.steps_per_iteration

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Names and values to show."""
        (before, before_done, used), (now, done, used_now) = (
            self._marks[0],
            self._marks[-1],
        )
        passed = max(now - before, 1e-9)
        total = self.task.iterations * self.task.steps_per_iteration
        rows = [
            ("steps", f"{self.steps:,} of {total:,}"),
            (
                "steps/s",
                f"{(done - before_done) * self.task.steps_per_iteration / passed:,.0f}",
            ),
            ("return, last 100", _mean(self.returns)),
            ("evaluation", self._evaluation()),
            ("loss", format_number(self.loss)),
            ("cores busy", f"{(used_now - used) / passed:.1f} of {os.cpu_count()}"),
            ("time left", self._left(now)),
        ]
        return [*rows, ("", self.note)] if self.note else rows

    def _evaluation(self) -> str:
        """Return the result of the last evaluation, and what the next one does."""
        shown = f"{format_number(self.evaluated)}{self.cut}"
        if self.evaluating is not None:
            shown += f", running: {self.evaluating}"
        return shown

    def _left(self, now: float) -> str:
        here = self.done - self.first
        if not here:
            return "-"
        return format_seconds(
            (now - self.began) / here * (self.task.iterations - self.done)
        )


class Display:
    """Shows progress on stderr: a live display on a terminal, else lines.

    A context manager; it limits the rate of updates.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._live: Any = None
        self._next = time.monotonic()

    def __enter__(self) -> Display:
        """Start the live display, if stderr is a terminal."""
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            self._live = Live(self._picture(), console=console, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Show the last state, and stop the live display."""
        self.show(time.monotonic())
        if self._live is not None:
            with suppress(OSError):
                self._live.stop()

    def update(self) -> None:
        """Show the progress, if enough time has passed."""
        now = time.monotonic()
        if now >= self._next:
            self.show(now)

    def show(self, now: float) -> None:
        """Show the progress."""
        self._next = now + (EVERY_PLAIN if self._live is None else EVERY_LIVE)
        self._progress.mark(now)
        if self._live is not None:
            with suppress(OSError):  # e.g. a terminal that was closed
                self._live.update(self._picture(), refresh=True)
            return
        shown = "  ".join(f"{n} {v}".strip() for n, v in self._progress.rows)
        with suppress(OSError):  # e.g. a closed terminal or pipe
            print(shown, file=sys.stderr, flush=True)

    def _picture(self) -> Any:  # noqa: ANN401
        from rich.panel import Panel
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        progress = self._progress
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", style="dim")
        table.add_column()
        bar = ProgressBar(
            total=progress.task.iterations, completed=progress.done, width=40
        )
        table.add_row("", bar)
        for name, value in progress.rows:
            table.add_row(name, value)
        return Panel(table, title=progress.title, expand=False)


def _mean(values: deque[float]) -> str:
    if not values:
        return "no episode has ended yet"
    return format_number(sum(values) / len(values))
