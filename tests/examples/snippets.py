"""Pieces of LF in documents, and the commands that they are shown with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = re.compile(r"```lf\n(// (\S+)\n.*?)```\n", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```\n", re.DOTALL)


def write_programs(document: str, directory: Path) -> list[str]:
    """Write programs to files called as their first lines say; return the names."""
    found = PROGRAM.findall(document)
    for text, name in found:
        (directory / name).write_text(text, encoding="utf-8")
    return [name for _, name in found]


def commands(document: str) -> list[tuple[str, str]]:
    """Return all commands after ``$``, each with the output that stands below it."""
    found: list[tuple[str, str]] = []
    for block in CONSOLE.findall(document):
        for piece in block.split("$ ")[1:]:
            command, _, output = piece.partition("\n")
            found.append((command, output))
    return found
