# SPDX-License-Identifier: Apache-2.0
"""Diagrams of programs: data, Mermaid, DOT, SVG, PNG, or an interactive page."""

from __future__ import annotations

from reactorl.diagram.compose import scene
from reactorl.diagram.graphviz import DrawingError
from reactorl.diagram.html import HtmlParts, Mark, html_page, html_parts
from reactorl.diagram.picture import SUFFIXES, Graph, graph, svg
from reactorl.diagram.scene import Box, Edge, Item, Scene

__all__ = [
    "SUFFIXES",
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
