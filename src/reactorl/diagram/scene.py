# SPDX-License-Identifier: Apache-2.0
"""A diagram of a program as data: boxes, items in them, and edges; no positions.

All back ends draw a ``Scene``, so all diagrams show the same things. An id is an index
into the table of its kind, as in a ``Program``. All text is data from the user's
program: a back end must escape it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, TypeVar

_HALF = re.compile(r"[\ud800-\udfff]")

FORMAT: Final = 1
"""Of the JSON text."""

ItemKind: TypeAlias = Literal[
    "input",
    "output",
    "timer",
    "logical action",
    "physical action",
    "startup",
    "shutdown",
    "reset",
    "reaction",
    "watchdog",
    "mode",
]
EdgeKind: TypeAlias = Literal[
    "connection",  # from port to port
    "trigger",  # from port, timer, action or occasion to reaction
    "source",  # the same, read without being triggered
    "effect",  # from reaction to port, action or watchdog
    "transition",  # from reaction to mode
    "order",  # from reaction to the next one of its reactor; only in loops
]
Facts: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A reactor, or a bank: a box around its members that has nothing else."""

    id: int
    parent: int  # -1 for the main reactor
    kind: Literal["reactor", "bank"]
    name: str  # within the parent; of a member "actor[3]", inside the bank "actor"
    path: str  # full name; of a bank without index
    cls: str  # name of the class
    width: int | None  # how many members a bank has
    mode: int | None  # item: the mode of the parent that contains it
    params: Facts
    doc: str  # first line of the class's docstring
    where: str  # where it is contained; empty for the main reactor
    cls_where: str
    federate: int | None = None  # where it runs; of a bank None if members differ
    copies: str = ""  # of a replica: the other federates that run it
    like: int | None = None  # of a member: the one drawn for it when banks are folded


@dataclass(frozen=True, slots=True)
class Item:
    """Something inside a box, or, if it is a port, on its edge."""

    id: int
    box: int
    kind: ItemKind
    name: str
    path: str  # full name; of a reaction the one that traces have
    shown: str  # shown beside the name, such as "(0, 5 ms)"
    number: int | None  # of a reaction: its position in the order, from 1
    mode: int | None  # item: the mode that contains it
    loop: bool  # whether it is part of a causality loop
    facts: Facts
    where: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow from one item to another."""

    id: int
    kind: EdgeKind
    source: int
    target: int
    shown: str  # label, such as "after 2 ms"
    late: bool  # whether it arrives at a later tag
    physical: bool
    loop: bool
    facts: Facts
    where: str
    crosses: bool = False  # its values go from one federate to another


@dataclass(frozen=True)
class Scene:
    """All boxes, items and edges of a program.

    Attributes:
        boxes: Parents before children; the members of a bank in order.
        items: What is in the boxes, in the order of declaration within each.
        edges: Each between two items.
        problems: Why the program cannot run: loops, which are drawn in red.
        federates: Names of the federates, if the diagram shows them.
    """

    boxes: tuple[Box, ...]
    items: tuple[Item, ...]
    edges: tuple[Edge, ...]
    problems: tuple[str, ...] = ()
    federates: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name of the main reactor's class."""
        return self.boxes[0].cls

    @cached_property
    def inside(self) -> tuple[tuple[int, ...], ...]:
        """For each box, the boxes directly in it."""
        found: list[list[int]] = [[] for _ in self.boxes]
        for box in self.boxes[1:]:
            found[box.parent].append(box.id)
        return tuple(map(tuple, found))

    @cached_property
    def items_of(self) -> tuple[tuple[int, ...], ...]:
        """For each box, the items in it."""
        found: list[list[int]] = [[] for _ in self.boxes]
        for item in self.items:
            found[item.box].append(item.id)
        return tuple(map(tuple, found))

    def to_json(self) -> str:
        """Return it as JSON text, the same for the same program and source positions.

        Empty, false and missing values are left out, and so are ids, which are the
        positions in the lists.
        """
        tables = {
            name: [_plain(row) for row in getattr(self, name)]
            for name in ("boxes", "items", "edges")
        }
        whole = {"format": FORMAT, **tables, "problems": list(self.problems)}
        if self.federates:
            whole["federates"] = list(self.federates)
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        # Lone surrogates, which UTF-8 cannot encode, are escaped as JSON escapes
        # non-ASCII characters.
        return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)

    @classmethod
    def from_json(cls, text: str) -> Scene:
        """Return what ``to_json`` wrote.

        Raises:
            ValueError: The text has another format.
        """
        whole = json.loads(text)
        try:
            if whole["format"] != FORMAT:
                msg = f"format must be {FORMAT}, got {whole['format']}"
                raise ValueError(msg)
            found = cls(
                tuple(_row(Box, k, row) for k, row in enumerate(whole["boxes"])),
                tuple(_row(Item, k, row) for k, row in enumerate(whole["items"])),
                tuple(_row(Edge, k, row) for k, row in enumerate(whole["edges"])),
                tuple(map(str, whole["problems"])),
                tuple(map(str, whole.get("federates", ()))),
            )
        except (KeyError, TypeError, AttributeError) as error:
            msg = "the text is not a diagram of a program"
            raise ValueError(msg) from error
        return found


_Row = TypeVar("_Row", Box, Item, Edge)
_EMPTY: Final = {"str": "", "bool": False, "Facts": ()}


def _row(cls: type[_Row], number: int, row: dict[str, Any]) -> _Row:
    known = {field.name: field.type for field in fields(cls)}
    values: dict[str, Any] = {"id": number}
    for name, kind in known.items():
        value = row.get(name, _EMPTY.get(str(kind)))
        if kind == "Facts":
            value = tuple((str(key), str(said)) for key, said in value)
        values.setdefault(name, value)
    return cls(**values)


def _plain(row: Box | Item | Edge) -> dict[str, Any]:
    found = {}
    for field in fields(row):
        value = getattr(row, field.name)
        empty = value is None or value is False or value in ("", ())
        if not empty and field.name != "id":
            found[field.name] = value
    return found
