# SPDX-License-Identifier: Apache-2.0
"""Facts about the machine and the interpreters, stored with every measurement."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import Any


def gil_is_on() -> bool:
    """Return whether this process has a GIL right now."""
    probe = getattr(sys, "_is_gil_enabled", None)
    return True if probe is None else bool(probe())


def interpreter_facts() -> dict[str, Any]:
    """Return the facts about the interpreter that runs this."""
    options = sysconfig.get_config_var("CONFIG_ARGS") or ""
    return {
        "executable": Path(sys.executable).name,
        "version": platform.python_version(),
        "compiler": platform.python_compiler(),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil": gil_is_on(),
        "pgo": "--enable-optimizations" in options,
        "lto": "--with-lto" in options,
        "packages": _packages(),
    }


def _packages() -> dict[str, str]:
    """Return all installed packages and their versions."""
    found = {d.name.lower(): d.version for d in metadata.distributions()}
    return dict(sorted(found.items()))


def machine_facts() -> dict[str, Any]:
    """Return the facts about the machine, now."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": usable or os.cpu_count(),
        "memory_gib": round(_memory() / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "load_average": list(os.getloadavg()),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    return models[0].strip() if models else platform.machine()


def free_memory() -> int:
    """Return how many bytes of memory are available."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
