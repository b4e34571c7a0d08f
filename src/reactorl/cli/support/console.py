# SPDX-License-Identifier: Apache-2.0
"""Colours for people: what is said is plain text, painted only on a terminal.

Messages are made as plain text everywhere. Their parts are known by how they are
written (``place: error: what``, ``help: ...``, a caret below a line of source), so the
painting is done here, once, for all commands. Without the colours the text is the same.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "bold red": "1;31",
    "bold green": "1;32",
    "bold yellow": "1;33",
}

_SEVERITY = {"error": "bold red", "warning": "bold yellow", "note": "cyan"}
_HEAD = re.compile(r"(?P<where>\S.*?: )?(?P<how>error|warning|note): (?P<what>.*)")
_PLACE = re.compile(r"(?P<where>\S[^:]*(?::\d+)+): (?P<what>.*)")
_HELP = re.compile(r"(?P<pad> +)help: (?P<what>.*)")
_SOURCE = re.compile(r"(?P<margin> +\d* \| )(?P<text>.*)")
_CARET = re.compile(r"\s*\^+")
_RAISED = re.compile(r"(?P<kind>[\w.]+(?:Error|Exception|Failure))(?P<rest>: .*)?")
_FRAME = re.compile(r'(?P<pad> +File )(?P<place>".*", line \d+)(?P<rest>.*)')


class _Detail:
    """How much to say of an error; chosen once for each command."""

    debug = False


def set_debug(*, on: bool) -> None:
    """Choose whether errors are said in full."""
    _Detail.debug = on


def debugging() -> bool:
    """Return whether errors are said in full."""
    return _Detail.debug


def coloured(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether colours are wanted there: by people, at a terminal that has them.

    ``NO_COLOR`` (no-color.org) counts more than all else, ``FORCE_COLOR`` more than
    what the stream is.
    """
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    try:
        return stream.isatty() and environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def paint(text: str, style: str) -> str:
    """Return the text in a style."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text else ""


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a message, without a newline of its own; painted if that is wanted.

    What else was printed comes first.
    """
    stream = sys.stderr if stream is None else stream
    sys.stdout.flush()
    print(painted(text) if coloured(stream) else text, file=stream, end="", flush=True)


def painted(text: str) -> str:
    """Return a message with its parts in colours, line by line."""
    return "\n".join(_painted(_harmless(line)) for line in text.split("\n"))


def _painted(line: str) -> str:
    if found := _FRAME.fullmatch(line):
        return found["pad"] + paint(found["place"], "cyan") + found["rest"]
    if found := _RAISED.fullmatch(line):
        return paint(found["kind"], "bold red") + (found["rest"] or "")
    if found := _HELP.fullmatch(line):
        return f"{found['pad']}{paint('help:', 'bold green')} {found['what']}"
    if found := _SOURCE.fullmatch(line):
        text = found["text"]
        shown = paint(text, "bold red") if _CARET.fullmatch(text) else text
        return paint(found["margin"], "dim") + shown
    if found := _HEAD.fullmatch(line):
        where, how = found["where"] or "", found["how"]
        return (
            paint(where, "bold")
            + paint(f"{how}:", _SEVERITY[how])
            + " "
            + paint(found["what"], "bold")
        )
    if found := _PLACE.fullmatch(line):
        return f"{paint(found['where'] + ':', 'bold')} {found['what']}"
    return line


def _harmless(line: str) -> str:
    """Return the line without characters that a terminal would obey."""
    return "".join(
        c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line
    )
