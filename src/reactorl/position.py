# SPDX-License-Identifier: Apache-2.0
"""Where in the user's source something was said: a file and a line."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Position:
    """Where something was declared."""

    file: str
    line: int

    def __str__(self) -> str:
        """Return ``file:line``, relative to the current directory if inside it."""
        return f"{_short(self.file)}:{self.line}"


def _short(file: str) -> str:
    path = Path(file)
    if not path.is_absolute():
        return file
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file


def here() -> Position:
    """Return the innermost position on the call stack that is user code.

    Frames of this package's private modules and of ``typing`` (which calls the class
    in ``Input[int]()``) are skipped. Inside ``at`` it is the position given there.
    """
    said: Position | None = getattr(_said, "position", None)
    if said is not None:
        return said
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in _SKIPPED and not module.startswith("reactorl._"):
            break
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    found = _known.get((file, line))
    if found is None:  # a line that says many things is one object
        found = _known.setdefault((file, line), Position(file, line))
    return found


@contextmanager
def at(position: Position) -> Iterator[None]:
    """Let everything that is declared inside be declared at ``position``.

    For front ends, whose users' source is not what Python executes.
    """
    before: Position | None = getattr(_said, "position", None)
    _said.position = position
    try:
        yield
    finally:
        _said.position = before


_said = threading.local()
_SKIPPED = frozenset({"typing", "contextlib", __name__})
_known: dict[tuple[str, int], Position] = {}
