# SPDX-License-Identifier: Apache-2.0
"""Runs Graphviz: DOT in, SVG or PNG out."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Final, Literal

from reactorl.errors import ReactorlError

LONGEST: Final = 120
"""Time limit for one diagram, in seconds."""

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


class DrawingError(ReactorlError):
    """A diagram cannot be drawn.

    Attributes:
        what: The fact.
        remedy: What to do about it.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy=remedy)
        self.args = (what, remedy)


def is_installed() -> bool:
    """Return whether Graphviz is installed."""
    return shutil.which("dot") is not None


def rendered(text: str, kind: Literal["svg", "png"]) -> bytes:
    """Return the rendered graph.

    Raises:
        DrawingError: Graphviz is not installed, or fails.
    """
    program = shutil.which("dot")
    if program is None:
        msg = f"drawing .{kind} failed: Graphviz is not installed"
        raise DrawingError(
            msg,
            "Install it (apt install graphviz, brew install graphviz), or write .html "
            "or .mmd, which do not need it.",
        )
    command = [program, f"-T{kind}", *(["-Gdpi=144"] if kind == "png" else [])]
    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        msg = f"drawing failed: Graphviz takes more than {LONGEST} s"
        raise DrawingError(
            msg,
            "Draw fewer levels (depth), or write .html, where reactors can be opened.",
        ) from None
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip() or "no reason given"
        msg = f"drawing failed: Graphviz ended with status {done.returncode}: {reason}"
        raise DrawingError(
            msg,
            "Write .html, which does not need it.",
        )
    if kind == "svg":
        # Comments name the version of Graphviz, which must not change the file.
        return _COMMENT.sub("", done.stdout.decode()).encode()
    return done.stdout
