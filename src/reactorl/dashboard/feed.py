# SPDX-License-Identifier: Apache-2.0
"""What a run says of itself while it runs: numbers, notes, how far it is."""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
LONGEST = 2_000
"""How many characters of a note are kept."""


class Feed:
    """Takes what a run says, from any thread; taking it costs next to nothing.

    Attributes:
        steps: How many steps of environments were made; set by the run.
        total: How many there will be, or None if it is no training.
    """

    def __init__(self, total: int | None = None) -> None:
        self.steps = 0
        self.total = total
        self._numbers: deque[tuple[int, str, float]] = deque()
        self._notes: deque[str] = deque(maxlen=10_000)

    def number(self, step: int, key: str, value: float) -> None:
        """Say a number; keys are those of ``metrics.csv``."""
        self._numbers.append((step, key, value))

    def note(self, text: str) -> None:
        """Say something in words: a line of the log."""
        self._notes.append(text)

    def numbers(self) -> Iterator[tuple[int, str, float]]:
        """Yield the numbers that were said since the last call."""
        with suppress(IndexError):
            while True:
                yield self._numbers.popleft()

    def notes(self) -> Iterator[str]:
        """Yield the notes since the last call, as one line or more of plain text."""
        with suppress(IndexError):
            while True:
                yield plain(self._notes.popleft())


def plain(text: str) -> str:
    """Return text without what a terminal would obey, and not too long."""
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
    return "".join(
        c if c.isprintable() or c in "\t\n" else "\N{REPLACEMENT CHARACTER}"
        for c in _ESCAPES.sub("", cut)
    )
