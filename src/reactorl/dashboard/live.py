# SPDX-License-Identifier: Apache-2.0
"""The page of the dashboard, without the live data."""

from __future__ import annotations

from html import escape
from string import Template
from typing import TYPE_CHECKING

from reactorl.dashboard.document import Document, asset, document, json_in_page
from reactorl.diagram import html_parts, scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl import Program

_SCRIPTS = ("chart.js", "live.js")


def live_page(
    program: Program,
    *,
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    depth: int | None = None,
) -> Document:
    """Return the page.

    Args:
        program: The program that runs.
        title: The heading.
        facts: Names and values below the heading.
        depth: How many levels of reactors are open at first; None: what is readable.
    """
    picture = html_parts(scene(program), depth=depth)
    reactions = [program.reaction_name(r.id) for r in program.reactions]
    body = Template(asset("live.html")).substitute(
        title=escape(title),
        facts=" ".join(
            f"<span><i>{escape(name)}</i> {escape(value)}</span>"
            for name, value in facts
        ),
        picture=picture.body,
        reactions=json_in_page(reactions),
    )
    ours = "\n".join(asset(name) for name in _SCRIPTS)
    return document(
        title=f"{title} - ReactoRL",
        style=asset("base.css") + asset("live.css") + picture.style,
        body=body,
        scripts=[picture.script, f'(() => {{\n"use strict";\n{ours}}})();\n'],
        connects=True,
    )
