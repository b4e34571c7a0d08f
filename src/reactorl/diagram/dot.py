# SPDX-License-Identifier: Apache-2.0
"""A Scene in DOT, the language of Graphviz: reactors are clusters, left to right."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from reactorl.diagram.backward import backward
from reactorl.diagram.federates import colour
from reactorl.diagram.fold import is_port
from reactorl.diagram.labels import one_line

if TYPE_CHECKING:
    from reactorl.diagram.fold import Fold
    from reactorl.diagram.scene import Edge, Item

FONT: Final = "Helvetica,Arial,DejaVu Sans,sans-serif"
_RED: Final = "#dc2626"
_LATE: Final = "#b45309"
_LINE: Final = "#4b5563"
_SOFT: Final = "#6b7280"
_MODE: Final = "#9b84cf"
_SIGNS: Final = {
    "timer": "◷",
    "logical action": "△ L",
    "physical action": "△ P",
    "startup": "●",
    "shutdown": "◆",
    "reset": "↺",
    "watchdog": "◉",
}


def dot(view: Fold) -> str:
    """Return the text of the graph."""
    return _Text(view).text()


class _Text:
    def __init__(self, view: Fold) -> None:
        self._view = view
        self._scene = view.scene
        self._back = backward(view)
        self._used = {end for e in view.edges for end in (e.source, e.target)}
        self._lines: list[str] = []

    def text(self) -> str:
        base = f'fontname="{FONT}", fontsize=11, color="{_LINE}"'
        self._lines += [
            "digraph program {",
            "  rankdir=LR; compound=true; nodesep=0.22; ranksep=0.5;",
            f'  bgcolor="#ffffff"; fontname="{FONT}"; fontsize=12; pad=0.2;',
            f"  node [{base}, shape=box, height=0.3, width=0.2, margin="
            '"0.09,0.04", penwidth=0.9];',
            f'  edge [{base}, fontsize=9, fontcolor="{_SOFT}", arrowsize=0.55];',
        ]
        self._add_box(0, "  ")
        for edge in self._view.edges:
            self._add_edge(edge)
        if self._scene.federates:
            self._lines.append(f"  legend [{self._legend()}];")
        self._lines.append("}")
        return "\n".join(self._lines) + "\n"

    # -- reactors ---------------------------------------------------------------------

    def _add_box(self, box: int, indent: str) -> None:
        if not self._view.shows_inside(box):
            self._lines.append(f"{indent}b{box} [{self._table(box)}];")
            return
        items = [self._scene.items[item] for item in self._scene.items_of[box]]
        ports = [i for i in items if is_port(i)]
        kids = self._view.inside[box]
        many = self._view.stands_for(box) > 1
        line, fill = self._colours(box, "#f3f5f8")
        self._lines += [
            f"{indent}subgraph cluster_b{box} {{",
            # Feedback edges need more room than Graphviz reserves.
            f"{indent}  label=<{self._title(box)}>; labeljust=l;"
            f" margin={28 if box == 0 and self._back else 12};"
            f' style="rounded,filled"; color="{line}"; fillcolor="{fill}";'
            f" penwidth={2.4 if many else 1};"
            f" tooltip={quoted(self._about(box))};",
        ]
        for item in [*ports, *(i for i in items if not is_port(i))]:
            if item.kind != "mode" and item.mode is None:
                self._add_item(item, indent + "  ")
        for federate, inside in self._view.regions(box).items():
            self._add_region(box, federate, inside, indent + "  ")
        for mode in items:
            if mode.kind == "mode":
                self._add_mode(mode, items, kids, indent + "  ")
        self._lines.append(f"{indent}}}")

    def _add_region(
        self, box: int, federate: int | None, inside: list[int], indent: str
    ) -> None:
        """Add reactors in one; a frame around those that run in another federate."""
        if federate is None:
            for kid in inside:
                self._add_box(kid, indent)
            return
        shown = colour(federate)
        name = quoted(f"federate {self._scene.federates[federate]}")
        self._lines += [
            f"{indent}subgraph cluster_f{box}_{federate} {{",
            f"{indent}  label={name}; labeljust=r; margin=10; penwidth=1.6;"
            f' style="rounded,filled,dashed"; color="{shown.line}";'
            f' fontcolor="{shown.line}"; fillcolor="{shown.fill}"; tooltip={name};',
        ]
        for kid in inside:
            self._add_box(kid, indent + "  ")
        self._lines.append(f"{indent}}}")

    def _colours(self, box: int, fill: str) -> tuple[str, str]:
        """Return the colours of a reactor's line and background."""
        federate = self._scene.boxes[box].federate
        if federate is None:
            return "#b6bdc9", fill
        shown = colour(federate)
        return shown.line, shown.fill if self._view.shows_inside(box) else fill

    def _legend(self) -> str:
        rows = [
            f'<tr><td bgcolor="{colour(k).fill}" border="1" color="{colour(k).line}">'
            f'     </td><td align="left">{_html(name)}</td></tr>'
            for k, name in enumerate(self._scene.federates)
        ]
        last = '<tr><td colspan="2" align="left">thick: between federates</td></tr>'
        table = (
            '<table border="0" cellborder="0" cellspacing="3" cellpadding="2">'
            '<tr><td colspan="2" align="left"><b>Federates</b></td></tr>'
            f"{''.join(rows)}{last}</table>"
        )
        return f'shape=box, style=rounded, color="#b6bdc9", label=<{table}>'

    def _add_mode(
        self, mode: Item, items: list[Item], kids: list[int], indent: str
    ) -> None:
        shown = f" ({mode.shown})" if mode.shown else ""
        self._lines += [
            f"{indent}subgraph cluster_i{mode.id} {{",
            f"{indent}  label={quoted(f'mode {mode.name}{shown}')}; labeljust=r;"
            f' style="rounded,filled"; color="{_MODE}"; fillcolor="#efeaf8";'
            f" margin=10; penwidth={2 if mode.shown else 1};",
            # Graphviz has no arrows to clusters: they end at this node.
            f"{indent}  i{mode.id} [shape=point, width=0.01, style=invis];",
        ]
        for item in items:
            if item.mode == mode.id:
                self._add_item(item, indent + "  ")
                # The node is at the left of the mode, where edges enter.
                self._lines.append(f"{indent}  i{mode.id} -> i{item.id} [style=invis];")
        for kid in kids:
            if self._view.mode(kid) == mode.id:
                self._add_box(kid, indent + "  ")
        self._lines.append(f"{indent}}}")

    def _title(self, box: int) -> str:
        name, cls = self._view.name(box), self._scene.boxes[box].cls
        count = self._view.stands_for(box)
        many = f' <font color="#2563eb">×{count}</font>' if count > 1 else ""  # noqa: RUF001
        small = [] if name.lower() == cls.lower() else [cls]
        copies = self._scene.boxes[box].copies
        small += [f"copy in {copies}"] if copies else []
        of = f' <font color="{_SOFT}" point-size="9">{_html(", ".join(small))}</font>'
        return f"<b>{_html(name)}</b>{many}{of if small else ''}"

    def _about(self, box: int) -> str:
        node = self._scene.boxes[box]
        return f"{node.path}: {node.cls} ({node.where or node.cls_where})"

    def _table(self, box: int) -> str:
        """Return a closed reactor: a table with its ports on both sides."""
        items = [self._scene.items[item] for item in self._scene.items_of[box]]
        ins = [i for i in items if i.kind == "input"]
        outs = [i for i in items if i.kind == "output"]
        rows = [f'<tr><td colspan="2" align="left">{self._title(box)}</td></tr>']
        for row in range(max(len(ins), len(outs))):
            cells = [
                f'<td port="i{side[row].id}" align="{align}">'
                f'<font point-size="10">{_html(side[row].name + side[row].shown)}'
                "</font></td>"
                if row < len(side)
                else "<td></td>"
                for side, align in ((ins, "left"), (outs, "right"))
            ]
            rows.append(f"<tr>{''.join(cells)}</tr>")
        many = self._view.stands_for(box) > 1
        line, fill = self._colours(box, "#ffffff")
        table = (
            '<table border="0" cellborder="0" cellspacing="1" cellpadding="2">'
            f"{''.join(rows)}</table>"
        )
        return (
            f'shape=box, style="rounded,filled", fillcolor="{fill}", margin="0.03", '
            f'color="{line}", peripheries={2 if many else 1}, '
            f"tooltip={quoted(self._about(box))}, label=<{table}>"
        )

    # -- items ------------------------------------------------------------------------

    def _add_item(self, item: Item, indent: str) -> None:
        if is_port(item) and item.id not in self._used:
            return
        facts = ", ".join(f"{name} {text}" for name, text in item.facts)
        tip = f"{item.path}: {item.kind}" + (f", {facts}" if facts else "")
        tip += f" ({item.where})" if item.where else ""
        look = self._look(item)
        if item.loop:
            look += f', color="{_RED}", penwidth=2'
        self._lines.append(f"{indent}i{item.id} [{look}, tooltip={quoted(tip)}];")

    def _look(self, item: Item) -> str:
        if is_port(item):
            label = quoted(item.name + item.shown)
            return (
                f'shape=none, margin="0.03,0", height=0.2, fontsize=10, label={label}'
            )
        if item.kind == "reaction":
            label = f"{item.number}&#160;&#160;{_html(item.name)}"
            if item.shown:
                late = (
                    f'<font color="{_LATE}" point-size="9">{_html(item.shown)}</font>'
                )
                label += f"<br/>{late}"
            # The shape is drawn with two thirds of the height that is asked for.
            margin = "0.14,0.16" if item.shown else "0.1,0.09"
            return (
                f'shape=cds, margin="{margin}", style=filled, fillcolor="#dbe7fb", '
                f'color="#6d8fc7", '
                f"label=<{label}>"
            )
        sign = _SIGNS[item.kind]
        shown = f" {item.shown}" if item.shown else ""
        label = quoted(f"{sign} {item.name}{shown}")
        return f'style="rounded,filled", fillcolor="#eef1f5", label={label}'

    # -- arrows -----------------------------------------------------------------------

    def _end(self, item: int, compass: str) -> str:
        node = self._scene.items[item]
        if node.kind == "reaction":
            # Graphviz assumes that the shape is higher than it is: edges above and
            # below it would not touch it.
            return f"i{item}:{compass}"
        if is_port(node) and not self._view.shows_inside(node.box):
            side = "w" if node.kind == "input" else "e"
            return f"b{node.box}:i{item}:{side}"
        return f"i{item}"

    def _add_edge(self, edge: Edge) -> None:
        # Feedback edges are written in reverse: that puts the target on the left and
        # leaves room for the line.
        back = edge.id in self._back
        head = "tail" if back else "head"
        look = ["dir=back"] if back else []
        if edge.shown:
            look.append(f"label={quoted(edge.shown)}")
        if edge.kind == "transition":
            look += [f'color="{_MODE}"', f"l{head}=cluster_i{edge.target}"]
        elif edge.late:
            style = "dotted" if edge.physical else "dashed"
            colours = f'color="{_LATE}"', f'fontcolor="{_LATE}"'
            look += [f"style={style}", *colours]
        elif edge.kind in ("source", "order"):
            look.append("style=dotted")
        if edge.crosses:
            look.append("penwidth=2.6")
        if edge.loop:
            look += [f'color="{_RED}"', f'fontcolor="{_RED}"', "penwidth=2"]
        if self._scene.items[edge.target].kind in ("input", "output"):
            shape = "none" if edge.kind == "effect" else "normal"
            look.append(f"arrow{head}={shape}")
        shown = f" [{', '.join(look)}]" if look else ""
        ends = [self._end(edge.source, "e"), self._end(edge.target, "w")]
        self._lines.append(f"  {' -> '.join(reversed(ends) if back else ends)}{shown};")


def quoted(text: str) -> str:
    """Return text as a DOT string, fully escaped."""
    text = one_line(text).replace("&", "&amp;")
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _html(text: str) -> str:
    return escape(one_line(text))
