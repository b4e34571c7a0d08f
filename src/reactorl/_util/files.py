# SPDX-License-Identifier: Apache-2.0
"""Atomic file replacement: readers find the old content or the new, never a part."""

from __future__ import annotations

import os
import re
import stat
import threading
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

_DESCRIPTORS: Final = re.compile(r"/dev/(std(in|out|err)|fd/\d+)|/proc/\w+/fd/\d+")
"""Names of open files: a rename would take the file from those who have it open."""
_LONGEST: Final = 200
"""Bytes of the name that the file beside it has, too; file systems allow 255 in all."""


@contextmanager
def atomic_writer(path: Path, mode: Literal["wb", "w"] = "wb") -> Iterator[IO[Any]]:
    """Open a new file that replaces ``path`` when the block ends without an error.

    The content is written to a file beside ``path``, flushed to the disk and renamed.
    After an error that file is removed, and ``path`` is as it was before. The new file
    has the mode of the one that it replaces, and where that is permitted its owner. A
    symbolic link stays, and the file that it leads to is replaced.

    A device, a pipe and an open file such as ``/dev/stdout`` cannot be replaced: they
    receive the content directly.

    Args:
        path: The file to create or replace.
        mode: ``"wb"`` for bytes, ``"w"`` for UTF-8 text.

    Raises:
        OSError: The file could not be written. The error names ``path``, not the file
            beside it.
    """
    encoding = None if mode == "wb" else "utf-8"
    replaced = _stat(path)
    if _DESCRIPTORS.fullmatch(str(path)) or (
        replaced is not None and not stat.S_ISREG(replaced.st_mode)
    ):
        with path.open(mode, encoding=encoding) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    # The name is unique, so that two writers of one path do not mix their content.
    unique = f"{os.getpid()}-{threading.get_native_id()}"
    beside = target.with_name(f".{_shortened(target.name)}.{unique}.new")
    try:
        try:
            with beside.open(mode, encoding=encoding) as file:
                if replaced is not None:
                    _take_over(file.fileno(), replaced)
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        is_ours = error.filename is None or os.fspath(error.filename) == str(beside)
        if error.errno is None or not is_ours:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    _sync_directory(target.parent)


def write_atomic(path: Path, data: bytes | memoryview) -> None:
    """Give ``path`` new content; see ``atomic_writer``."""
    with atomic_writer(path) as file:
        file.write(data)


def remove_unfinished(path: Path) -> None:
    """Remove what killed processes left beside ``path`` while they wrote it.

    Requires that this process is the only writer of ``path``.
    """
    for left in path.parent.glob(f".{escape(_shortened(path.name))}.*.new"):
        with suppress(OSError):
            left.unlink()


def _stat(path: Path) -> os.stat_result | None:
    """Return the facts of what is at a path, after links; None: nothing is."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _take_over(descriptor: int, replaced: os.stat_result) -> None:
    """Give a new file the owner and the mode of the one that it will replace."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (replaced.st_uid, replaced.st_gid):
        with suppress(OSError):
            os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
    with suppress(OSError):
        os.fchmod(descriptor, stat.S_IMODE(replaced.st_mode))


def _shortened(name: str) -> str:
    """Return as much of a name as leaves room for a suffix."""
    return os.fsdecode(os.fsencode(name)[:_LONGEST])


def _sync_directory(directory: Path) -> None:
    """Flush a rename to the disk. Not every file system offers this."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
