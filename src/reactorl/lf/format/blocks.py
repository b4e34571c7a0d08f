# SPDX-License-Identifier: Apache-2.0
"""Indentation of code blocks."""

from __future__ import annotations

import re

from reactorl.lf.parse import syntax
from reactorl.lf.parse.python_block import python_block

_QUOTE_OR_COMMENT = re.compile(r"""#[^\n]*|\"{3}|'{3}|["']""")
_ENDS = {
    '"""': re.compile(r'\\.|"""', re.DOTALL),
    "'''": re.compile(r"\\.|'''", re.DOTALL),
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"\\.|['\n]", re.DOTALL),
}
_ODD = re.compile(r"[\r\f\v]")


def dedented(text: str) -> str:
    """Return the code of a block without its common indentation."""
    return python_block(syntax.Code(text)).text


def indented(text: str, indent: int) -> list[str]:
    """Return the lines of a code block with its delimiters.

    Args:
        text: The text between the delimiters.
        indent: The indentation of the line in which the block begins; the code is
            indented one level more. It is not applied to the first line.
    """
    if "\n" not in text:
        inside = text.strip()
        return [f"{{= {inside} =}}" if inside else "{= =}"]
    if not _movable(text):
        return f"{{={text}=}}".split("\n")
    pad = " " * (indent + 2)
    code = dedented(text)
    lines = [pad + line if line else "" for line in code.split("\n")] if code else []
    return ["{=", *lines, " " * indent + "=}"]


def _movable(text: str) -> bool:
    """Return whether the lines can be shifted together without changing a string."""
    if _ODD.search(text) or _spans_lines(text):
        return False
    lines = [line for line in text.split("\n")[1:] if line.strip()]
    indents = [line[: len(line) - len(line.lstrip())] for line in lines]
    smallest = min(indents, key=len, default="")
    return all(indent.startswith(smallest) for indent in indents)


def _spans_lines(text: str) -> bool:
    """Return whether a string contains a line end, or has no end."""
    found = _QUOTE_OR_COMMENT.search(text)
    while found:
        at = found.end()
        if found[0][0] != "#":
            end = _ENDS[found[0]].search(text, at)
            while end and end[0][0] == "\\":
                end = _ENDS[found[0]].search(text, end.end())
            if end is None or "\n" in text[at : end.end()]:
                return True
            at = end.end()
        found = _QUOTE_OR_COMMENT.search(text, at)
    return False
