# SPDX-License-Identifier: Apache-2.0
"""Converts a code block to dedented Python and maps each line to the source.

Blank text up to the first line end is dropped; then the smallest indentation of all
non-blank lines is removed. If a line of a multi-line string is indented less than the
code, some indentation remains, so a block is always compiled as the body of a ``def``,
``class`` or ``if``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl.lf.parse import syntax

_INDENTATION = re.compile(r"[ \t]*")


@dataclass(frozen=True)
class PythonBlock:
    """The Python code of a code block.

    Attributes:
        lines: The lines without the common indentation and without line ends.
        offsets: The start of each line in the source.
        end: The end of the last line in the source.
    """

    lines: tuple[str, ...]
    offsets: tuple[int, ...]
    end: int

    @property
    def text(self) -> str:
        """The block as one text."""
        return "\n".join(self.lines)

    @property
    def is_empty(self) -> bool:
        """Whether it contains only whitespace and comments."""
        return all(not s or s.startswith("#") for s in map(str.strip, self.lines))

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the source; lines and columns count from 0."""
        if line < 0:
            return self.offsets[0] if self.offsets else self.end
        if line >= len(self.lines):
            return self.end
        return self.offsets[line] + max(0, min(column, len(self.lines[line])))


def python_block(code: syntax.Code) -> PythonBlock:
    """Return the Python code of a code block."""
    lines: list[str] = []
    offsets: list[int] = []
    at = code.span.start + len("{=")
    for line in code.text.split("\n"):
        lines.append(line.removesuffix("\r"))
        offsets.append(at)
        at += len(line) + 1
    # Code on the line of the opening delimiter has no indentation of its own.
    first = lines[0].lstrip(" \t")
    offsets[0] += len(lines[0]) - len(first)
    lines[0] = first
    rest = [_indentation(line) for line in lines[1:] if line.strip()]
    smallest = min(rest, default=0)
    extra = "    " if _opens_a_block(first) else ""
    for n in range(1, len(lines)):
        cut = min(smallest, _indentation(lines[n]))
        # Added spaces have no columns in the source.
        lines[n] = extra + lines[n][cut:] if lines[n].strip() else ""
        offsets[n] += cut - len(extra)
    while lines and not lines[-1].strip():
        del lines[-1], offsets[-1]
    if lines:
        lines[-1] = lines[-1].rstrip()
    if lines and not lines[0]:
        del lines[0], offsets[0]
    end = offsets[-1] + len(lines[-1]) if lines else code.span.start + len("{=")
    return PythonBlock(tuple(lines), tuple(offsets), end)


def _indentation(line: str) -> int:
    found = _INDENTATION.match(line)
    return found.end() if found else 0


def _opens_a_block(line: str) -> bool:
    """Return whether a first line such as ``{= if x:`` needs an indented block."""
    return line.split(" #")[0].rstrip().endswith(":")
