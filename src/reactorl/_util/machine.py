# SPDX-License-Identifier: Apache-2.0
"""Properties of this process that decide how much can run in parallel."""

from __future__ import annotations

import os
import sys


def has_gil() -> bool:
    """Return whether this interpreter runs one thread at a time, now."""
    probe = getattr(sys, "_is_gil_enabled", None)
    return True if probe is None else bool(probe())


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
