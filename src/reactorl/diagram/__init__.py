# SPDX-License-Identifier: Apache-2.0
"""Pictures of programs."""

from __future__ import annotations

from reactorl.diagram.compose import scene
from reactorl.diagram.html import HtmlParts, Mark, html_page, html_parts
from reactorl.diagram.mermaid import Mermaid, mermaid
from reactorl.diagram.scene import Box, Edge, Item, Scene

__all__ = [
    "Box",
    "Edge",
    "HtmlParts",
    "Item",
    "Mark",
    "Mermaid",
    "Scene",
    "html_page",
    "html_parts",
    "mermaid",
    "scene",
]
