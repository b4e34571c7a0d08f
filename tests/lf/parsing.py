# SPDX-License-Identifier: Apache-2.0
"""Helpers that parse texts for tests."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl.lf.diagnostics import Report
from reactorl.lf.parse import syntax
from reactorl.lf.parse.parser import parse
from reactorl.lf.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator


def attempt(text: str) -> tuple[syntax.File, list[str]]:
    """Return the tree of a text and its errors as ``line:column: what | advice``."""
    report = Report()
    tree = parse(Source(Path("test.lf"), text), report)
    found = []
    for diagnostic in report.in_order():
        where, remedy = diagnostic.where, diagnostic.remedy
        assert where is not None
        advice = f" | {remedy}" if remedy else ""
        found.append(f"{where.line}:{where.column}: {diagnostic.what}{advice}")
    return tree, found


def file(text: str) -> syntax.File:
    """Return the tree of a text without errors."""
    tree, problems = attempt(text)
    assert problems == []
    return tree


def problems(text: str) -> list[str]:
    """Return the errors of a text."""
    return attempt(text)[1]


def reactor(text: str) -> syntax.Reactor:
    """Return the tree of a reactor."""
    (only,) = file(text).reactors
    return only


def member(text: str) -> Any:  # noqa: ANN401
    """Return the tree of a member of a reactor."""
    (only,) = reactor(f"reactor R {{\n{text}\n}}").members
    return only


def expression(text: str) -> syntax.Expr:
    """Return the tree of a value."""
    init = member(f"state x = {text}").init
    assert init is not None
    return init


def nodes(tree: syntax.Node) -> Iterator[syntax.Node]:
    """Yield a node and all nodes in it."""
    yield tree
    for field in fields(tree):
        value = getattr(tree, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, syntax.Node):
                yield from nodes(item)


def name(text: str) -> syntax.Name:
    """Return a name."""
    return syntax.Name(text)


def ref(text: str) -> syntax.Ref:
    """Return a reference written like ``a`` or ``a.b``."""
    container, _, port = text.rpartition(".")
    return syntax.Ref(name(port), name(container) if container else None)
