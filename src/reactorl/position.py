# SPDX-License-Identifier: Apache-2.0
"""Positions in the user's source: a file, a line and, if known, a column."""

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
    """A position in the user's source.

    Attributes:
        file: Path of the file.
        line: Line number from 1; 0: the file as a whole.
        column: Column number from 1; 0: not known.
    """

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return ``file:line``, relative to the current directory if inside it."""
        return f"{_short(self.file)}:{self.line}" if self.line else _short(self.file)

    @property
    def with_column(self) -> str:
        """The position as ``file:line:column``, as far as these are known."""
        return f"{self}:{self.column}" if self.column else str(self)

    def excerpt(self) -> list[str]:
        """Return the source line with a caret below; empty if the text is not kept."""
        return []


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
    if found is None:  # declarations on one line share one object
        found = _known.setdefault((file, line), Position(file, line))
    return found


@contextmanager
def at(position: Position) -> Iterator[None]:
    """Make ``position`` the position of all declarations inside the block.

    For front ends: the source of their users is not the Python that runs.
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
