# SPDX-License-Identifier: Apache-2.0
"""Memory of this process."""

from __future__ import annotations

import gc
import os
from pathlib import Path

STATM = Path("/proc/self/statm")


def memory_in_use() -> int:
    """Return the resident bytes of this process, after a garbage collection.

    Memory that allocators keep for later counts as well: the process has it.
    """
    gc.collect()
    if STATM.exists():
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import psutil  # type: ignore[import-untyped,unused-ignore]

    return int(psutil.Process().memory_info().rss)
