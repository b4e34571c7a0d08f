# SPDX-License-Identifier: Apache-2.0
"""A self-contained page that draws a Scene: one file, no network access."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Final

from reactorl.diagram.labels import drawable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl.diagram.scene import Scene

SCRIPTS: Final = ("model.js", "layout.js", "draw.js", "page.js")
ELK: Final = "elkjs/elk-worker.min.js.gz"

_PAGE_STYLE = "html, body { height: 100%; margin: 0; }\n"


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on a reaction, for example its measured time.

    Attributes:
        heat: From 0 (nothing) to 1 (most): how strongly it is coloured.
        label: A few words beside it, such as "12 ms".
    """

    heat: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class HtmlParts:
    """The parts of a page that draw a Scene; a page can have them once.

    Attributes:
        style: Goes into a ``<style>`` element. All rules begin with ``.reactorl-``.
        body: Markup, to be put where the picture is to be; its size is that of the
            element around it.
        script: Goes into a ``<script>`` element after the body. It gives the page
            ``window.reactorlDiagram``, which has
            ``setActivity({"main.actor[0].act": {heat: 0.4, label: "12 ms"}})``: marks
            reactions, by their full names, and forgets earlier marks; a number stands
            for a heat without label. ``ready`` is a promise that resolves when the
            first diagram is drawn.
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
    heading: str = "",
) -> HtmlParts:
    """Return the parts for embedding the diagram in another page.

    All names and values are escaped. A page with a Content-Security-Policy must allow
    ``worker-src blob:``, inline style and this script.

    Args:
        scene: What to draw.
        overlay: Marks by full name of a reaction, as in ``Scene.items[k].path``.
        depth: How many levels of reactors are open at first; None: as many as are
            readable.
        expand_banks: Whether all members of banks are drawn at first.
        heading: The text above the diagram.
    """
    options = {"depth": depth, "expandBanks": expand_banks}
    marks = {name: _mark(mark) for name, mark in (overlay or {}).items()}
    body = _filled(
        "body.html",
        heading=f"<h1>{escape(drawable(heading))}</h1>\n" if heading else "",
        scene=in_script(scene.to_json()),
        options=in_script(json.dumps(options)),
        overlay=in_script(json.dumps(marks)),
        elk=_packed_elk(),
    )
    return HtmlParts(_asset("diagram.css"), body, _script())


def html_page(
    scene: Scene,
    *,
    title: str,
    overlay: Mapping[str, Mark] | None = None,
    depth: int | None = None,
    expand_banks: bool = False,
) -> str:
    """Return a page with the diagram alone, which works offline.

    Args:
        scene: What to draw.
        title: Of the page.
        overlay: As for ``html_parts``.
        depth: As for ``html_parts``.
        expand_banks: As for ``html_parts``.
    """
    parts = html_parts(
        scene, overlay=overlay, depth=depth, expand_banks=expand_banks, heading=title
    )
    style = _PAGE_STYLE + parts.style
    policy = (
        "default-src 'none'; "
        f"script-src {_allowed(parts.script)}; "
        f"style-src {_allowed(style)}; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    return _filled(
        "page.html",
        policy=policy,
        title=escape(drawable(title)),
        style=style,
        body=parts.body,
        script=parts.script,
    )


def in_script(json_text: str) -> str:
    """Return JSON that is safe inside a ``<script>`` element."""
    return json_text.replace("<", "\\u003c")


def _mark(mark: Mark) -> dict[str, object]:
    heat = float(mark.heat)
    return {"heat": heat if math.isfinite(heat) else 0.0, "label": str(mark.label)}


def _allowed(text: str) -> str:
    """Return how a Content-Security-Policy names one inline script or style."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _filled(name: str, **parts: str) -> str:
    """Return a piece of markup with its parts in place; they are not read again."""
    return Template(_asset(name)).substitute(parts)


@cache
def _asset(name: str) -> str:
    return (files("reactorl.diagram") / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    whole = "\n".join(_asset(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{whole}}})();\n'


@cache
def _packed_elk() -> str:
    packed = (files("reactorl.diagram") / "assets" / ELK).read_bytes()
    return base64.b64encode(packed).decode()
