# SPDX-License-Identifier: Apache-2.0
"""This machine and this Python: cores, memory, and whether threads run in parallel."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def has_gil() -> bool:
    """Return whether this interpreter runs one thread at a time, now."""
    probe = getattr(sys, "_is_gil_enabled", None)
    return True if probe is None else bool(probe())


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def why_gil() -> str:
    """Return why this interpreter has the GIL or not."""
    import sysconfig  # slow to import, and every run imports this module

    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this build of Python always has it"
    value = requested_gil()
    if value is not None:
        return f"requested by PYTHON_GIL={value} or -X gil={value}"
    return "turned on by a module" if has_gil() else "as built"


def requested_gil() -> str | None:
    """Return how PYTHON_GIL or -X gil is set, None if neither is."""
    value = sys._xoptions.get("gil") or os.environ.get("PYTHON_GIL")
    return value if isinstance(value, str) else None


def cpu_model() -> str:
    """Return the name of the processor."""
    import platform  # slow to import, and every run imports this module

    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if sys.platform == "darwin" and (name := _sysctl("machdep.cpu.brand_string")):
        return name
    return platform.processor() or platform.machine()


def _sysctl(name: str) -> str:
    """Return a fact of macOS, empty if it cannot be determined."""
    import subprocess  # slow to import, and every run imports this module

    with suppress(OSError, subprocess.SubprocessError):
        command = ["/usr/sbin/sysctl", "-n", name]
        done = subprocess.run(
            command, capture_output=True, check=True, text=True, timeout=10
        )
        return done.stdout.strip()
    return ""


def memory_gib() -> float | None:
    """Return the size of the machine's memory in GiB, None if it is unknown."""
    with suppress(OSError, ValueError, AttributeError):
        pages = os.sysconf("SC_PHYS_PAGES")
        return round(os.sysconf("SC_PAGE_SIZE") * pages / 2**30, 1)
    return None
