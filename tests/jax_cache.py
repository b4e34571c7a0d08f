# SPDX-License-Identifier: Apache-2.0
"""JAX's compilation cache, shared by all tests and the processes that they start.

A third of the time of the tests is compilation, mostly of the same programs. The cache
is in ``build``, so it lasts until ``make clean``. The key of an entry contains the
program, JAX's version and its flags; the directory is one for each build of Python,
because two of them are tested concurrently, and for each kind of processor, whose
instructions the compiler uses.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from reactorl.rl.algorithms.compilation_cache import (
    is_whole,
    processor_name,
    python_name,
)

if TYPE_CHECKING:
    from collections.abc import MutableMapping

BUILD: Final = Path(__file__).parents[1] / "build"
LIMIT: Final = 256 << 20
"""Bytes after which the cache starts again. Programs that changed leave entries."""
IGNORED: Final = "ignore:Error (reading|writing) persistent compilation cache"
"""JAX then compiles as without a cache."""


def share_compiled_programs(
    environ: MutableMapping[str, str], build: Path = BUILD
) -> None:
    """Set JAX's variables, before it is imported, unless the user has set them."""
    if "JAX_COMPILATION_CACHE_DIR" in environ:
        return
    directory = build / "jax-cache" / f"{python_name()}-{processor_name()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        remove_damaged(directory)
    except OSError:  # read-only, or full: tests run without it
        return
    environ["JAX_COMPILATION_CACHE_DIR"] = str(directory)
    environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def remove_damaged(directory: Path, limit: int = LIMIT) -> None:
    """Remove truncated entries; all, if they are larger than the limit.

    JAX writes entries in place, so a process that is killed can leave half of one. JAX
    would warn of it in every run, and never replace it.
    """
    size = 0
    entries = list(directory.glob("*-cache"))
    for entry in entries:
        data = entry.read_bytes()
        size += len(data)
        if not is_whole(data):
            entry.unlink(missing_ok=True)
    if size > limit:
        for entry in entries:
            entry.unlink(missing_ok=True)
