# SPDX-License-Identifier: Apache-2.0
"""JAX's compilation cache, in the user's cache directory.

Compiling an update takes longer than many a training; the next process with the same
algorithm and shapes reads the compiled program instead. It is the same machine code, so
the results are the same. Settings of the user come first: ``JAX_COMPILATION_CACHE_DIR``
names another directory, ``JAX_ENABLE_COMPILATION_CACHE=false`` turns the cache off.

The key of an entry contains the program, JAX's version and its flags. The directory is
one for each build of Python and each kind of processor, whose instructions the compiler
uses. Entries contain machine code, so the directory belongs to the user alone.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sysconfig
import warnings
import zlib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reactorl._util.cache_directory import cache_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT: Final = 256 << 20
"""Bytes; the oldest entries are removed when a process starts with more."""
VARIABLES: Final = ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE")
"""Settings of the user."""
_CHECKED: Final = ".checked"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def use_compilation_cache(jax: Any, environ: Mapping[str, str] | None = None) -> None:  # noqa: ANN401
    """Let JAX keep compiled programs, unless the user has decided about that.

    Args:
        jax: The module, before anything is compiled.
        environ: Variables of the environment; None: those of the process.
    """
    environ = os.environ if environ is None else environ
    if any(name in environ for name in VARIABLES):
        return
    if jax.config.jax_compilation_cache_dir is not None:
        return
    try:
        directory = cache_directory() / "jax" / f"{python_name()}-{processor_name()}"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(directory):
            return
        tidy(directory)
    except (OSError, RuntimeError):  # read-only, full, or no home: compile as ever
        return
    jax.config.update("jax_compilation_cache_dir", str(directory))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    # Another process may be writing the entry now; JAX compiles it then.
    for what in ("reading", "writing"):
        message = f"Error {what} persistent compilation cache"
        warnings.filterwarnings("ignore", message)


def tidy(directory: Path, limit: int = LIMIT) -> None:
    """Remove truncated entries, and the oldest ones beyond the limit.

    JAX writes entries in place, so a process that is killed can leave half of one. JAX
    would compile that program in every run, and never replace the entry. Entries are
    checked once, when the first process starts after they were written.
    """
    marker = directory / _CHECKED
    checked = marker.stat().st_mtime_ns if marker.exists() else 0
    marker.touch()
    found: list[tuple[int, str, int]] = []
    for entry in directory.glob("*-cache"):
        try:
            stat = entry.stat()
            if stat.st_mtime_ns >= checked and not is_whole(entry.read_bytes()):
                entry.unlink(missing_ok=True)
                continue
        except FileNotFoundError:  # another process tidies up, too
            continue
        found.append((stat.st_mtime_ns, entry.name, stat.st_size))
    size = sum(each for _, _, each in found)
    for _, name, each in sorted(found):
        if size <= limit:
            break
        (directory / name).unlink(missing_ok=True)
        size -= each


def is_whole(data: bytes) -> bool:
    """Return whether an entry is complete."""
    if data.startswith(_ZSTD):  # JAX prefers it where Python or a package has it
        try:
            zstd = import_module("compression.zstd")
        except ImportError:
            return True
        try:
            zstd.decompress(data)
        except zstd.ZstdError:
            return False
        return True
    try:
        zlib.decompress(data)
    except zlib.error:
        return False
    return True


def python_name() -> str:
    """Return a name for this build of Python."""
    return str(sysconfig.get_config_var("SOABI"))


def processor_name() -> str:
    """Return a name for the instructions of this processor."""
    found = platform.machine() + platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text("utf-8").splitlines()
        found += "".join(sorted({x for x in lines if x.startswith(("flags", "model"))}))
    return hashlib.sha256(found.encode()).hexdigest()[:8]


def _is_private(directory: Path) -> bool:
    """Return whether only this user can have written into a directory."""
    if not hasattr(os, "geteuid"):
        return True
    stat = directory.stat()
    return stat.st_uid == os.geteuid() and not stat.st_mode & 0o022
