# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks of a page, all of them, and what is said about each; and pictures.

Comments right above a block say how it is treated:

- ``<!-- not run: WHY -->``: it is not.
- ``<!-- needs: MODULE -->``: it is, where the module can be imported.
- ``<!-- in tests: FLAGS -->``: its trainings get these flags, to be short; then numbers
  in its output do not count.
- ``<!-- other numbers: WHY -->``: numbers in its output do not count.

A picture is made from what ``<!-- picture: EXPRESSION -->`` right above it says, with
the names that the page's Python blocks before it define.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass, field
from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FENCE = re.compile(r"^ *(`{3,}|~{3,}) *([^\s`]*)")
MARK = re.compile(r"^<!-- (not run|needs|in tests|other numbers): (.+) -->$")
FILE = re.compile(r"^(?:#|//) ([\w/-]+\.(?:py|lf))\n")
PICTURE = re.compile(
    r"^ *<!-- picture: (.+) -->\n+ *!\[[^]]*\]\(([^)]+)\)", re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    line: int
    """Where its text begins in the page, counted from 1."""
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str | None:
        """The file that it stands for, which its first line names in a comment."""
        found = FILE.match(self.text)
        return found[1] if found else None

    @property
    def runs(self) -> bool:
        """Whether it is claimed to work."""
        return "not run" not in self.marks

    @property
    def is_there(self) -> bool:
        """Whether all that it needs can be imported."""
        needed = self.marks.get("needs", "").split()
        return all(importlib.util.find_spec(module) for module in needed)

    @property
    def is_run(self) -> bool:
        """Whether it is run here."""
        return self.runs and self.is_there


def blocks(page: str) -> list[Block]:
    """Return all fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = page.splitlines(keepends=True)
    marks: dict[str, str] = {}
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if mark := MARK.match(line.strip()):
            marks[mark[1]] = mark[2]
        elif fence := FENCE.match(line):
            begin = place
            while not lines[place].strip().startswith(fence[1]):
                place += 1  # a fence that is left open is an IndexError: good
            text = dedent("".join(lines[begin:place]))
            found.append(Block(begin + 1, fence[2], text, marks))
            marks = {}
            place += 1
        elif line.strip():
            marks = {}
    return found


@dataclass(frozen=True)
class Picture:
    """A picture that a page shows and that is made from its code."""

    line: int
    expression: str
    file: str
    """Relative to the page."""


def pictures(page: str) -> list[Picture]:
    """Return all pictures of a page that say what they are made from."""
    return [
        Picture(page.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in PICTURE.finditer(page)
    ]


def commands(block: Block) -> list[tuple[str, str | None]]:
    """Return the commands of a shell block, each with its output if that is shown."""
    if block.language == "sh":
        lines = block.text.replace("\\\n", " ").splitlines()
        return [(line, None) for line in lines if line and not line.startswith("#")]
    found: list[tuple[str, str | None]] = []
    for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = piece.replace("\\\n", " ").partition("\n")
        found.append((command, output))
    return found


def write_files(page: list[Block], directory: Path) -> list[str]:
    """Write the blocks that stand for files; return their names."""
    names = []
    for block in page:
        if block.file is not None:
            path = directory / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            names.append(block.file)
    return names
