# SPDX-License-Identifier: Apache-2.0
"""Atomic file replacement: readers find the old content or the new, never a part."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def atomic_writer(path: Path, mode: Literal["wb", "w"] = "wb") -> Iterator[IO[Any]]:
    """Open a new file that replaces ``path`` when the block ends without an error.

    The content is written to a file beside ``path``, flushed to the disk and renamed.
    After an error that file is removed, and ``path`` is as it was before.

    Args:
        path: The file to create or replace.
        mode: ``"wb"`` for bytes, ``"w"`` for UTF-8 text.

    Raises:
        OSError: The file could not be written. The error names ``path``, not the file
            beside it.
    """
    # The name is unique, so that two writers of one path do not mix their content.
    unique = f"{os.getpid()}-{threading.get_native_id()}"
    beside = path.with_name(f".{path.name}.{unique}.new")
    encoding = None if mode == "wb" else "utf-8"
    try:
        try:
            with beside.open(mode, encoding=encoding) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        is_ours = error.filename is None or os.fspath(error.filename) == str(beside)
        if error.errno is None or not is_ours:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    _sync_directory(path.parent)


def write_atomic(path: Path, data: bytes | memoryview) -> None:
    """Give ``path`` new content; see ``atomic_writer``."""
    with atomic_writer(path) as file:
        file.write(data)


def remove_unfinished(path: Path) -> None:
    """Remove what killed processes left beside ``path`` while they wrote it.

    Requires that this process is the only writer of ``path``.
    """
    for left in path.parent.glob(f".{path.name}.*.new"):
        with suppress(OSError):
            left.unlink()


def _sync_directory(directory: Path) -> None:
    """Flush a rename to the disk. Not every file system offers this."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
