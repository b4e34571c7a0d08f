# SPDX-License-Identifier: Apache-2.0
"""Parses the fenced blocks and generated pictures of a documentation page.

A comment directly above a block controls how tests treat it:

- ``<!-- not run: REASON -->``: the block is not executed.
- ``<!-- needs: MODULE -->``: it is executed only if the module can be imported.
- ``<!-- in tests: FLAGS -->``: ``reactorl train`` commands get these flags, to be
  short, and numbers in the output are not compared.
- ``<!-- other numbers: REASON -->``: numbers in the output are not compared.

``<!-- picture: EXPRESSION -->`` directly above a picture states what it is drawn from.
The expression may use names defined by the page's Python blocks above it.
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
FILE = re.compile(r"^(?:#|//) ([\w/-]+\.(?:py|lf|c))\n")
PICTURE = re.compile(
    r"^ *<!-- picture: (.+) -->\n+ *!\[[^]]*\]\(([^)]+)\)", re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    line: int
    """Line of the page where its text starts, counted from 1."""
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str | None:
        """Name of the file it stands for: a comment in its first line, or None."""
        found = FILE.match(self.text)
        return found[1] if found else None

    @property
    def runs(self) -> bool:
        """Whether it is not marked as not run."""
        return "not run" not in self.marks

    @property
    def is_there(self) -> bool:
        """Whether all modules it needs can be imported."""
        needed = self.marks.get("needs", "").split()
        return all(importlib.util.find_spec(module) for module in needed)

    @property
    def is_run(self) -> bool:
        """Whether it is executed in this interpreter."""
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
                place += 1  # raises IndexError if the fence is not closed
            text = dedent("".join(lines[begin:place]))
            found.append(Block(begin + 1, fence[2], text, marks))
            marks = {}
            place += 1
        elif line.strip():
            marks = {}
    return found


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn from the code of its page."""

    line: int
    expression: str
    file: str
    """Relative to the page."""


def pictures(page: str) -> list[Picture]:
    """Return all generated pictures of a page."""
    return [
        Picture(page.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in PICTURE.finditer(page)
    ]


def commands(block: Block) -> list[tuple[str, str | None]]:
    """Return the commands of a shell block, each with the output shown, if any."""
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
