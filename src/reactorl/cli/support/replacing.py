# SPDX-License-Identifier: Apache-2.0
"""Replacing a file's content as a whole: readers see the old one or the new one."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def replace_file(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Give a file new content and leave its mode; a link leads to the new content.

    Args:
        path: An existing file.
        change: Makes the new content of the old.

    Raises:
        OSError: It could not be written; the old content is still there.
    """
    path = path.resolve()
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "permission denied", str(path))
    data = change(path.read_bytes())
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            os.fsync(file.fileno())
        os.replace(name, path)  # noqa: PTH105  (a name, not a path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108
        raise


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """Give a new text beside ``path``, which is moved there when it is complete.

    Raises:
        OSError: It could not be written. The error names ``path``, not what is beside.
    """
    beside: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        beside = Path(name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        beside.replace(path)
    except BaseException as error:
        if beside is not None:
            with suppress(OSError):
                beside.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
