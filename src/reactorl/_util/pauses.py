# SPDX-License-Identifier: Apache-2.0
"""Notices when this process did not run: timeouts do not count that time."""

from __future__ import annotations

import time
from typing import Final

_USUAL: Final = 2.0
"""A look that comes after so many periods is not late."""


class Pauses:
    """Measures pauses of this process between regular looks at the clock.

    The process was stopped (Ctrl-Z, ``kill -STOP``), or the machine was too busy to run
    it. Time in which one of its threads computes does not count as a pause, also if
    that thread holds the GIL.

    Args:
        period: Seconds between two looks.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def look(self) -> float:
        """Return the length of the pause since the last look, in seconds; often 0."""
        wall, cpu = time.monotonic(), time.process_time()
        elapsed, busy = wall - self._wall, cpu - self._cpu
        self._wall, self._cpu = wall, cpu
        return max(elapsed - busy - _USUAL * self._period, 0.0)
