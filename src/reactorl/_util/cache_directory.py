# SPDX-License-Identifier: Apache-2.0
"""The user's cache directory: files that can be deleted at any time."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_directory() -> Path:
    """Return the directory of reactorl in the user's cache; it may not exist yet.

    ``$XDG_CACHE_HOME`` if that is an absolute path; else ``~/.cache``, on macOS
    ``~/Library/Caches``, on Windows ``%LOCALAPPDATA%``.

    Raises:
        RuntimeError: The user has no home directory.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "reactorl"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
        return base / "reactorl" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "reactorl"
    return Path.home() / ".cache" / "reactorl"
