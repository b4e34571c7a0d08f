# SPDX-License-Identifier: Apache-2.0
"""Facts for a bug report: this package, this Python, this machine.

Nothing here imports a package that may be missing or broken, and nothing raises: facts
that cannot be determined are None or left out.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
from contextlib import suppress
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import reactorl
from reactorl._util.machine import (
    cpu_model,
    has_gil,
    memory_gib,
    requested_gil,
    usable_cores,
    why_gil,
)

VARIABLES = (
    "PYTHON_GIL", "PYTHONHASHSEED", "PYTHONMALLOC", "OMP_NUM_THREADS",
    "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "XLA_FLAGS", "JAX_PLATFORMS",
    "JAX_ENABLE_X64", "CUDA_VISIBLE_DEVICES", "LF_PACKAGES", "NO_COLOR",
)  # fmt: skip
"""Environment variables that change results or speed."""
_COMPILER = re.compile(rb"(GCC: \([^)\0]*\) |(?:[a-zA-Z]+ )?clang version )([0-9.]+)")


def package_facts() -> dict[str, Any]:
    """Return the version of this package, its path, and how its extension was built."""
    home = Path(reactorl.__file__).parent
    found = [home / f"_core{suffix}" for suffix in EXTENSION_SUFFIXES]
    file = next((path for path in found if path.exists()), None)
    if file is None:  # an editable installation has it elsewhere
        file = _installed_extension()
    facts: dict[str, Any] = {
        "version": version("reactorl"),
        "wheel": wheel_tags(home),
        "place": str(home),
        "extension": None if file is None else str(file),
    }
    if file is not None:
        facts |= extension_facts(file)
    return facts


def version(package: str) -> str | None:
    """Return an installed package's version, without importing it."""
    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, OSError, ValueError):
        return None


def wheel_tags(home: Path) -> list[str]:
    """Return the tags of the wheel that a package's directory was installed from.

    Empty for a source tree and an editable installation: those have the files of a
    working tree, whatever an installed wheel contains.
    """
    with suppress(Exception):  # damaged metadata may raise anything
        found = metadata.distribution("reactorl")
        if Path(str(found.locate_file("reactorl"))).resolve() == home.resolve():
            lines = (found.read_text("WHEEL") or "").splitlines()
            return [line.split()[1] for line in lines if line.startswith("Tag:")]
    return []


def _installed_extension() -> Path | None:
    with suppress(Exception):
        for file in metadata.files("reactorl") or ():
            if file.name.startswith("_core.") and file.suffix == ".so":
                return Path(str(file.locate()))
    return None


def extension_facts(file: Path) -> dict[str, Any]:
    """Return how a compiled file was built, as far as it contains that."""
    try:
        data = file.read_bytes()
    except OSError:
        return {}
    found = _COMPILER.search(data)
    compiler = None
    if found is not None:
        name = "gcc" if found[1].startswith(b"GCC") else "clang"
        compiler = f"{name} {found[2].decode()}"
    else:  # a linker may leave it out; the build writes it to a file, too
        with suppress(OSError, UnicodeDecodeError):
            note = (file.parent / "_compiler.txt").read_text("utf-8").strip()
            compiler = note.lower().replace("gnu", "gcc") or None
    marks = {
        "assertions": b"__assert_fail",
        "address sanitizer": b"__asan_init",
        "thread sanitizer": b"__tsan_init",
    }
    slow = [name for name, mark in marks.items() if mark in data]
    return {"compiler": compiler, "built_with": slow}


def python_facts() -> dict[str, Any]:
    """Return the version and build of this Python, and whether it has a GIL."""
    free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    options = sysconfig.get_config_var("CONFIG_ARGS") or ""
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "compiler": platform.python_compiler(),
        "executable": sys.executable,
        "free_threaded": free,
        "debug_build": hasattr(sys, "gettotalrefcount"),
        "optimised": "--enable-optimizations" in options if options else None,
        "gil": has_gil(),
        "gil_requested": requested_gil() is not None,
        "why": why_gil(),
        "start_method": _start_method(),
    }


def _start_method() -> str | None:
    with suppress(Exception):
        import multiprocessing

        return multiprocessing.get_start_method(allow_none=False)
    return None


def machine_facts() -> dict[str, Any]:
    """Return the machine, and which part of it this process may use."""
    return {
        "system": f"{platform.system()} {platform.release()} ({platform.machine()})",
        "libc": " ".join(filter(None, platform.libc_ver())) or None,
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "cgroup_cores": cgroup_cores(),
        "load": _load(),
        "memory_gib": memory_gib(),
        "memfd": hasattr(os, "memfd_create"),
        "dev_shm_mib": _free_mib(Path("/dev/shm")),
    }


def cgroup_cores(root: Path = Path("/")) -> float | None:
    """Return the CPU limit of the container in cores; None if there is no limit."""
    limits = []
    with suppress(OSError, ValueError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, own = line.split(":", 2)
            if controllers == "":  # version 2: one tree
                below, read = root / "sys/fs/cgroup", _limit_v2
            elif "cpu" in controllers.split(","):
                below, read = root / "sys/fs/cgroup/cpu", _limit_v1
            else:
                continue
            place = below / own.strip("/")
            for folder in (place, *place.parents):
                limits.append(read(folder))
                if folder == below:
                    break
    known = [limit for limit in limits if limit is not None]
    return min(known, default=None)


def _limit_v2(folder: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    return None


def _limit_v1(folder: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        period = int((folder / "cpu.cfs_period_us").read_text())
        return None if quota <= 0 else quota / period
    return None


def _load() -> float | None:
    with suppress(OSError, AttributeError):
        return round(os.getloadavg()[0], 2)
    return None


def _free_mib(folder: Path) -> int | None:
    with suppress(OSError, AttributeError):
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize // 2**20
    return None


def variables() -> dict[str, str]:
    """Return the relevant environment variables that are set."""
    return {name: os.environ[name] for name in VARIABLES if name in os.environ}
