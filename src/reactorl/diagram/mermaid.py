# SPDX-License-Identifier: Apache-2.0
"""A Scene as a Mermaid flowchart: text that many sites and notebooks draw.

An open reactor is a frame around its content, with its ports as small nodes. A closed
one is a node, and the edges are labelled with its ports. Delayed connections and
sources that do not trigger are dotted; loops are red.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.diagram.federates import colour
from reactorl.diagram.labels import one_line

if TYPE_CHECKING:
    from reactorl.diagram.fold import Fold
    from reactorl.diagram.scene import Edge, Item

_SHAPES: Final = {
    "input": ("([", "])"),
    "output": ("([", "])"),
    "logical action": ("[/", "\\]"),
    "physical action": ("[/", "\\]"),
    "watchdog": ("[[", "]]"),
    "reaction": ("{{", "}}"),
}
_ROUND: Final = ("(", ")")
_SIGNS: Final = {
    "timer": "◷ ",
    "logical action": "L ",
    "physical action": "P ",
    "startup": "● ",
    "shutdown": "◆ ",
    "reset": "↺ ",
    "watchdog": "W ",
}
_RED: Final = "stroke:#dc2626,stroke-width:2px"


def mermaid(view: Fold) -> str:
    """Return the text of the flowchart, from left to right."""
    return _Chart(view).text()


class _Chart:
    def __init__(self, view: Fold) -> None:
        self._view = view
        self._scene = view.scene
        self._lines = ["flowchart LR"]
        self._coloured: dict[str, int] = {}  # node -> federate
        used = {end for edge in view.edges for end in (edge.source, edge.target)}
        self._inside = {box: self._contents(box, used) for box in view.opened}

    def text(self) -> str:
        self._add_box(0, "  ")
        red = [
            str(index)
            for index, edge in enumerate(self._view.edges)
            if self._add_edge(edge)
        ]
        if red:
            self._lines.append(f"  linkStyle {','.join(red)} {_RED}")
        self._add_federates()
        for item in self._scene.items:
            if item.loop and item.kind == "reaction" and self._node(item) == _id(item):
                self._lines.append(f"  style {_id(item)} {_RED}")
        return "\n".join(self._lines) + "\n"

    def _add_box(self, box: int, indent: str) -> None:
        view = self._view
        items = self._inside.get(box, [])
        kids = view.inside[box]
        federate = self._scene.boxes[box].federate
        if federate is not None:
            self._coloured[f"b{box}"] = federate
        if not view.shows_inside(box):
            title = self._title(box, "<br><i>", "</i>")
            self._lines.append(f'{indent}b{box}["{title}"]')
            return
        # A frame has room for one line.
        self._begin(f'b{box}["{self._title(box, " : ")}"]', indent)
        deeper = indent + "  "
        modes = [item for item in items if item.kind == "mode"]
        for item in items:
            if item.kind != "mode" and item.mode is None:
                self._lines.append(f"{deeper}{self._declared(item)}")
        for federate, inside in view.regions(box).items():
            self._add_region(box, federate, inside, deeper)
        for mode in modes:
            self._add_mode(mode, items, kids, deeper)
        self._lines.append(f"{indent}end")

    def _add_region(
        self, box: int, federate: int | None, inside: list[int], indent: str
    ) -> None:
        """Add reactors in one; a frame around those that run in another federate."""
        if federate is None:
            for kid in inside:
                self._add_box(kid, indent)
            return
        name = quoted(f"federate {self._scene.federates[federate]}")
        region = f"f{box}_{federate}"
        self._begin(f"{region}[{name}]", indent)
        self._coloured[region] = federate
        for kid in inside:
            self._add_box(kid, indent + "  ")
        self._lines.append(f"{indent}end")

    def _add_federates(self) -> None:
        """Add the legend, the colours, and thick lines between federates."""
        names = self._scene.federates
        if not names:
            return
        self._begin('federates["Federates"]', "  ")
        for federate, name in enumerate(names):
            self._lines.append(f"    legend{federate}[{quoted(name)}]")
            self._coloured[f"legend{federate}"] = federate
        self._lines.append("  end")
        for node, federate in self._coloured.items():
            shown = colour(federate)
            self._lines.append(f"  style {node} fill:{shown.fill},stroke:{shown.line}")
        thick = [
            str(index) for index, edge in enumerate(self._view.edges) if edge.crosses
        ]
        if thick:
            self._lines.append(f"  linkStyle {','.join(thick)} stroke-width:4px")

    def _add_mode(
        self, mode: Item, items: list[Item], kids: list[int], indent: str
    ) -> None:
        shown = f" ({mode.shown})" if mode.shown else ""
        label = quoted(f"mode {mode.name}{shown}")
        mine = [item for item in items if item.mode == mode.id]
        inner = [kid for kid in kids if self._view.mode(kid) == mode.id]
        if not (mine or inner):
            self._lines.append(f"{indent}{_id(mode)}[{label}]")
            return
        self._begin(f"{_id(mode)}[{label}]", indent)
        self._lines += [f"{indent}  {self._declared(item)}" for item in mine]
        for kid in inner:
            self._add_box(kid, indent + "  ")
        self._lines.append(f"{indent}end")

    def _begin(self, title: str, indent: str) -> None:
        # Without a direction of its own a frame may be drawn from top to bottom.
        self._lines += [f"{indent}subgraph {title}", f"{indent}  direction LR"]

    def _contents(self, box: int, used: set[int]) -> list[Item]:
        """Return the items of an open reactor; ports only if edges use them."""
        scene = self._scene
        items = [scene.items[item] for item in scene.items_of[box]]
        inner = [item for item in items if item.kind not in ("input", "output")]
        ports = [item for item in items if item.kind in ("input", "output")]
        if not self._view.shows_inside(box):
            return []
        return [port for port in ports if port.id in used] + inner

    def _title(self, box: int, before: str, after: str = "") -> str:
        """Return the name, and between two pieces of text the class."""
        name, cls = self._view.name(box), self._scene.boxes[box].cls
        count = self._view.stands_for(box)
        shown = _escaped(name) + (f" ×{count}" if count > 1 else "")  # noqa: RUF001
        small = [] if name.lower() == cls.lower() else [cls]
        copies = self._scene.boxes[box].copies
        small += [f"copy in {copies}"] if copies else []
        return f"{shown}{before}{_escaped(', '.join(small))}{after}" if small else shown

    def _declared(self, item: Item) -> str:
        begin, end = _SHAPES.get(item.kind, _ROUND)
        # Not "1.": Mermaid 11 takes that for a list, which it does not draw.
        number = "" if item.number is None else f"{item.number}: "
        text = _escaped(f"{_SIGNS.get(item.kind, '')}{number}{item.name}")
        if item.shown:
            is_port = item.kind in ("input", "output")
            between = "" if is_port else "<br>" if item.kind == "reaction" else " "
            text += between + _escaped(item.shown)
        return f'{_id(item)}{begin}"{text}"{end}'

    def _node(self, item: Item) -> str | None:
        """Return the node that an arrow to an item leads to; None: it is not drawn."""
        box = item.box
        if box not in self._view.inside:
            return None
        if item.kind not in ("input", "output"):
            return _id(item) if box in self._view.opened else None
        return _id(item) if self._view.shows_inside(box) else f"b{box}"

    def _add_edge(self, edge: Edge) -> bool:
        """Add an arrow; return whether it is part of a loop."""
        ends = [self._scene.items[end] for end in (edge.source, edge.target)]
        source, target = (self._node(item) for item in ends)
        names = []
        if edge.kind == "connection":
            names = [
                i.name
                for i, n in zip(ends, (source, target), strict=True)
                if n != _id(i)
            ]
        words = [" → ".join(dict.fromkeys(names))] if names else []
        words += [edge.shown] if edge.shown else []
        label = f"|{quoted(', '.join(words))}|" if words else ""
        arrow = "-.->" if edge.late or edge.kind in ("source", "order") else "-->"
        self._lines.append(f"  {source} {arrow}{label} {target}")
        return edge.loop


def _id(item: Item) -> str:
    return f"i{item.id}"


def quoted(text: str) -> str:
    """Return text in quotes, escaped for Mermaid."""
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    text = one_line(text)
    for old, new in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&quot;"),
        ("`", "&#96;"),
    ):
        text = text.replace(old, new)
    return text
