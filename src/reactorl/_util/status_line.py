# SPDX-License-Identifier: Apache-2.0
"""A line on stderr that shows what takes long: one line on a terminal, else several."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY_LIVE: Final = 0.2
EVERY_PLAIN: Final = 10.0
"""Least number of seconds between two updates on a terminal, or between two lines."""
_CLEAR: Final = "\r\x1b[2K"


class StatusLine:
    """Shows a text from time to time; a context manager.

    What ends before the first update is due shows nothing. On a terminal the line is
    removed at the end.

    Args:
        is_on: Whether to show anything.
        clock: Returns seconds.
    """

    def __init__(
        self, *, is_on: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._is_on = is_on
        self._clock = clock
        self._is_live = sys.stderr.isatty()
        self._every = EVERY_LIVE if self._is_live else EVERY_PLAIN
        self._next = clock() + self._every
        self._is_shown = False

    def __enter__(self) -> StatusLine:
        return self

    def __exit__(self, *_error: object) -> None:
        """Remove the line."""
        if self._is_shown and self._is_live:
            self._write(_CLEAR)

    def show(self, text: object) -> None:
        """Show a text, if enough time has passed."""
        if not self._is_on:
            return
        now = self._clock()
        if now < self._next:
            return
        self._next = now + self._every
        self._is_shown = True
        self._write(f"{_CLEAR}{text}" if self._is_live else f"{text}\n")

    def _write(self, text: str) -> None:
        with suppress(OSError):  # e.g. a closed terminal or pipe
            sys.stderr.write(text)
            sys.stderr.flush()
