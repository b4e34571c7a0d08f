# SPDX-License-Identifier: Apache-2.0
"""Pictures of programs: data, Mermaid, DOT, SVG, PNG, or a page to look around in."""

from __future__ import annotations

from reactorl.diagram.compose import scene
from reactorl.diagram.graphviz import DrawingError
from reactorl.diagram.html import HtmlParts, Mark, html_page, html_parts
from reactorl.diagram.picture import Graph, graph, svg
from reactorl.diagram.scene import Box, Edge, Item, Scene

__all__ = [
    "Box",
    "DrawingError",
    "Edge",
    "Graph",
    "HtmlParts",
    "Item",
    "Mark",
    "Scene",
    "graph",
    "html_page",
    "html_parts",
    "scene",
    "svg",
]
