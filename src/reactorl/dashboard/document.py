# SPDX-License-Identifier: Apache-2.0
"""A self-contained page that can only run its own scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIXED = "base-uri 'none'; form-action 'none'; img-src data:; worker-src blob:"


@dataclass(frozen=True, slots=True)
class Document:
    """A page.

    Attributes:
        text: All of it.
        policy: The Content-Security-Policy, which is in the text, too.
    """

    text: str
    policy: str


def document(
    *,
    title: str,
    style: str,
    body: str,
    scripts: Sequence[str] = (),
    connects: bool = False,
) -> Document:
    """Return a page whose policy allows exactly these styles and scripts.

    Args:
        title: Plain text.
        style: CSS.
        body: Markup, with all values escaped.
        scripts: JavaScript, run in this order after the body.
        connects: Whether scripts may connect to the server of the page.
    """
    allowed = " ".join(map(_allowed, scripts)) or "'none'"
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {allowed}",
            f"style-src {_allowed(style)}",
            *(["connect-src 'self'"] if connects else []),
            _FIXED,
        ]
    )
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        body,
        *(f"<script>{script}</script>" for script in scripts),
        "</body>",
        "</html>",
        "",
    ]
    return Document("\n".join(parts), policy)


def json_in_page(value: Any) -> str:  # noqa: ANN401
    """Return JSON that is safe inside a ``<script>`` element."""
    return json.dumps(value).replace("<", "\\u003c")


@cache
def asset(name: str) -> str:
    """Return a file of this package."""
    return (files("reactorl.dashboard") / "assets" / name).read_text(encoding="utf-8")


def _allowed(text: str) -> str:
    """Return how a policy names one inline script or style."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
