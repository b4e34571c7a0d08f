# SPDX-License-Identifier: Apache-2.0
"""Formats a ``.lf`` text; the program and its comments stay the same."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from reactorl.diagnostics import Diagnostic, Severity
from reactorl.lf.diagnostics import Report, about_file
from reactorl.lf.format.blocks import dedented
from reactorl.lf.format.comments import Misaligned, attach
from reactorl.lf.format.layout import lay_out
from reactorl.lf.format.printer import to_pieces
from reactorl.lf.parse import syntax
from reactorl.lf.source import Source

if TYPE_CHECKING:
    from collections import Counter

N = TypeVar("N", bound=syntax.Node)


def format_text(source: Source, report: Report) -> str | None:
    """Return the formatted text of a file; None if that is not possible.

    The result has been parsed again to check that it is the same program. All line ends
    become like the first one.

    Args:
        source: The file.
        report: Receives syntax errors, but no warnings.
    """
    newline = "\r\n" if _first_line_end(source.text) == "\r\n" else "\n"
    source = Source(source.path, source.text.replace("\r\n", "\n"))
    tree = _parse(source, report)
    if tree is None:
        return None
    pieces = to_pieces(tree)
    try:
        attach(pieces, source, tree.comments)
    except Misaligned:
        report.add(_bug(source))
        return None
    text = lay_out(pieces)
    again = _parse(Source(source.path, text), Report())
    if again is None or not _same(tree, again):
        report.add(_bug(source))
        return None
    return text.replace("\n", newline)


def _first_line_end(text: str) -> str:
    at = text.find("\n")
    return text[at - 1 : at + 1] if at > 0 else text[at : at + 1]


def _parse(source: Source, report: Report) -> syntax.File | None:
    from reactorl.lf.parse.parser import parse

    found = Report()
    tree = parse(source, found)
    if not found.failed:
        return tree
    for diagnostic in found.in_order():
        if diagnostic.severity is Severity.ERROR:
            report.add(diagnostic)
    return None


def _bug(source: Source) -> Diagnostic:
    return about_file(
        source.path,
        "formatting would change the program, so the file is left unchanged",
        "This is a bug in 'reactorl fmt'; please report it with the file.",
    )


def _same(tree: syntax.File, again: syntax.File) -> bool:
    return normalise(tree) == normalise(again) and _comments(tree) == _comments(again)


def _comments(tree: syntax.File) -> Counter[str]:
    """Return the comments without the whitespace that formatting may change."""
    from collections import Counter

    lines = (map(str.strip, c.text.split("\n")) for c in tree.comments)
    return Counter("\n".join(each) for each in lines)


def normalise(node: N) -> N:
    """Return a tree in which code has canonical indentation.

    Trees that are equal after this are the same program.
    """
    if isinstance(node, syntax.Code):
        return replace(node, text=dedented(node.text))
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, syntax.Node):
            changed[field.name] = normalise(value)
        elif isinstance(value, tuple) and field.compare:
            changed[field.name] = tuple(
                normalise(v) if isinstance(v, syntax.Node) else v for v in value
            )
    return replace(node, **changed) if changed else node
