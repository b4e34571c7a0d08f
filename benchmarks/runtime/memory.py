# SPDX-License-Identifier: Apache-2.0
"""How much memory this process has."""

from __future__ import annotations

import gc
import os
from pathlib import Path

STATM = Path("/proc/self/statm")


def memory_in_use() -> int:
    """Return the bytes in RAM that this process holds, rubbish collected before.

    What allocators keep for later counts too: the process has it.
    """
    gc.collect()
    if STATM.exists():
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import psutil  # type: ignore[import-untyped,unused-ignore]

    return int(psutil.Process().memory_info().rss)
