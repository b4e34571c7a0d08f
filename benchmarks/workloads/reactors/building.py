# SPDX-License-Identifier: Apache-2.0
"""Time and memory that building a program takes."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.harness.memory import memory_in_use


class Building:
    """Starts now; ``finished`` is called from the first reaction."""

    def __init__(self) -> None:
        self.more: dict[str, Any] = {}
        self._before = memory_in_use()
        self._cpu = time.process_time()
        self._began = time.perf_counter()

    def finished(self) -> None:
        """Note the time and the memory since the start."""
        self.more["build_seconds"] = time.perf_counter() - self._began
        self.more["build_cpu_seconds"] = time.process_time() - self._cpu
        self.more["memory"] = memory_in_use() - self._before
