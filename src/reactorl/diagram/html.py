# SPDX-License-Identifier: Apache-2.0
"""A page that draws a Scene by itself: one file, nothing is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.diagram.scene import Scene


@dataclass(frozen=True, slots=True)
class Mark:
    """What a picture says about a reaction, on top of what it is.

    Attributes:
        heat: From 0 (nothing) to 1 (most): how strongly it is coloured.
        label: A few words beside it, such as "12 ms".
    """

    heat: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class HtmlParts:
    """What a page needs to draw a Scene; a page has it once.

    Attributes:
        style: Goes into a ``<style>`` element. All rules begin with ``.reactorl-``.
        body: Markup, to be put where the picture is to be; its size is that of the
            element around it.
        script: Goes into a ``<script>`` element after the body. It gives the page
            ``window.reactorlDiagram``, which has
            ``setActivity({"main.actor[0].act": {heat: 0.4, label: "12 ms"}})``: marks
            reactions, by their full names, and forgets earlier marks; a number stands
            for a heat without label. ``ready`` is a promise, kept when the first
            picture is drawn.
    """

    style: str
    body: str
    script: str


def html_parts(
    scene: Scene,
    *,
    overlay: Mapping[str, Mark] | None = None,
    depth: int | None = None,
    expand_banks: bool = False,
) -> HtmlParts:
    """Return what another page needs to have the picture in it.

    All names and values are escaped. A page with a Content-Security-Policy must allow
    ``worker-src blob:``, inline style and this script.

    Args:
        scene: What to draw.
        overlay: Marks by full name of a reaction, as in ``Scene.items[k].path``.
        depth: How many levels of reactors are open at first; None: as many as are
            readable.
        expand_banks: Whether all members of banks are drawn at first.
    """
    raise NotImplementedError


def html_page(
    scene: Scene,
    *,
    title: str,
    overlay: Mapping[str, Mark] | None = None,
    depth: int | None = None,
    expand_banks: bool = False,
) -> str:
    """Return a page with nothing but the picture, which works offline.

    Args:
        scene: What to draw.
        title: Of the page.
        overlay: As for ``html_parts``.
        depth: As for ``html_parts``.
        expand_banks: As for ``html_parts``.
    """
    raise NotImplementedError
