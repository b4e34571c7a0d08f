# SPDX-License-Identifier: Apache-2.0
"""What a run reports while it runs: metrics, log lines, progress."""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
LONGEST = 2_000
"""Longest log line, in characters."""


class Feed:
    """Receives reports of a run from any thread, at almost no cost.

    Attributes:
        steps: Number of environment steps so far; set by the run.
        total: Number of environment steps in all; None if it is not training.
    """

    def __init__(self, total: int | None = None) -> None:
        self.steps = 0
        self.total = total
        self._numbers: deque[tuple[int, str, float]] = deque()
        self._notes: deque[str] = deque(maxlen=10_000)

    def number(self, step: int, key: str, value: float) -> None:
        """Report a metric; keys are those of ``metrics.csv``."""
        self._numbers.append((step, key, value))

    def note(self, text: str) -> None:
        """Report a line of the log."""
        self._notes.append(text)

    def numbers(self) -> Iterator[tuple[int, str, float]]:
        """Yield the metrics since the last call."""
        with suppress(IndexError):
            while True:
                yield self._numbers.popleft()

    def notes(self) -> Iterator[str]:
        """Yield the log lines since the last call, as plain text."""
        with suppress(IndexError):
            while True:
                yield plain(self._notes.popleft())


def plain(text: str) -> str:
    """Return text without terminal control sequences, truncated."""
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
    return "".join(
        c if c.isprintable() or c in "\t\n" else "\N{REPLACEMENT CHARACTER}"
        for c in _ESCAPES.sub("", cut)
    )
