# SPDX-License-Identifier: Apache-2.0
"""A program as a Mermaid flowchart: reactors, and what flows between them.

Notebooks and many sites draw it. A bank is one box with its width; connections between
the same two boxes by the same ports are one arrow. A dashed arrow is delayed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl._program.program import Program

_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Mermaid:
    """A flowchart; its text is ``str()`` of it."""

    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return f"```mermaid\n{self.text}```\n"


def mermaid(program: Program) -> Mermaid:
    """Return the flowchart of a program, from left to right."""
    boxes: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for node in program.reactors:
        path = _INDEX.sub("", node.path)
        if path in titles:
            continue
        width = "" if node.bank_width is None else f"[{node.bank_width}]"
        name = path.rpartition(".")[2]
        same = name.lower() == node.cls.__name__.lower()
        kind = "" if same else f"<br><i>{_shown(node.cls.__name__)}</i>"
        titles[path] = f"{_shown(name)}{width}{kind}"
        boxes.setdefault(path.rpartition(".")[0], []).append(path)
    ids = {path: f"r{place}" for place, path in enumerate(titles)}
    lines = ["flowchart LR"]

    def add(path: str, indent: str) -> None:
        inside = boxes.get(path, [])
        if not inside:
            lines.append(f'{indent}{ids[path]}["{titles[path]}"]')
            return
        lines.append(f'{indent}subgraph {ids[path]}["{titles[path]}"]')
        for inner in inside:
            add(inner, indent + "  ")
        lines.append(f"{indent}end")

    for path in boxes[""]:
        add(path, "  ")
    lines += dict.fromkeys(_arrows(program, ids))
    return Mermaid("\n".join(lines) + "\n")


def _arrows(program: Program, ids: dict[str, str]) -> list[str]:
    arrows = []
    for connection in program.connections:
        ends = []
        for channel in (connection.source, connection.target):
            port = program.ports[program.channel_port[channel]]
            path = _INDEX.sub("", program.reactors[port.reactor].path)
            ends.append((ids[path], port.name))
        (source, out), (target, into) = ends
        label = out if out == into else f"{out} → {into}"
        late = ""
        if connection.physical:
            late = "physical"
        elif connection.delay is not None:
            late = f"after {_time(connection.delay)}"
        text = _shown(f"{label}, {late}" if late else label)
        arrows.append(f'  {source} {"-.->" if late else "-->"}|"{text}"| {target}')
    return arrows


def _time(nanoseconds: int) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if nanoseconds and nanoseconds % size == 0:
            return f"{nanoseconds // size} {unit}"
    return f"{nanoseconds} ns" if nanoseconds else "0"


def _shown(text: str) -> str:
    """Return text without anything that Mermaid or a page would take for markup."""
    for old, new in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(old, new)
    return text
