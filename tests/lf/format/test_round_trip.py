# SPDX-License-Identifier: Apache-2.0
"""Printing and parsing a syntax tree gives an equal tree."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reactorl.lf.diagnostics import Report
from reactorl.lf.format.format import normalise
from reactorl.lf.format.printer import to_text
from reactorl.lf.parse import syntax
from reactorl.lf.parse.parser import parse
from reactorl.lf.source import Source
from tests.lf import trees

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted(
    path
    for folder in ("tests", "examples", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*.lf")
    if path.is_file()
)

NEVER_EMPTY = {("Import", "names"), ("Connection", "left"), ("Connection", "right")}


def read(text: str) -> tuple[syntax.File, Report]:
    report = Report()
    return parse(Source(Path("test.lf"), text), report), report


@given(tree=trees.files)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_parsing_a_printed_tree_gives_the_tree(tree: syntax.File) -> None:
    text = to_text(tree)

    again, report = read(text)

    assert not report.failed, f"{report.in_order()[0].render()}\n{text}"
    assert normalise(again) == normalise(tree), text


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: str(p.relative_to(ROOT)))
def test_round_trip_of_our_programs(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", errors="replace")
    tree, report = read(text)
    if report.failed:
        return  # a program that shows a syntax error

    again, report = read(to_text(tree))

    assert not report.failed
    assert normalise(again) == normalise(tree)


def test_strategies_generate_every_node_and_field() -> None:
    seen: dict[str, set[object]] = {}

    # Parts by themselves as well, or rare fields would take thousands of files. What
    # Hypothesis draws depends on which modules are loaded, so there is some to spare.
    for strategy in (trees.files, trees.dicts, trees.modes, trees.reactions):
        _sample(strategy, seen, 300)
    for strategy in (
        trees.imports,
        trees.targets,
        trees.preambles,
        trees.states,
        trees.methods,
        trees.timers,
        trees.actions,
        trees.watchdogs,
        trees.instances,
        trees.connections,
    ):
        _sample(strategy, seen, 60)

    missing = [
        f"{kind.__name__}.{name}: {sorted(map(str, wanted - found))}"
        for kind in _kinds()
        for name, wanted in _wanted(kind).items()
        if not wanted <= (found := seen.get(f"{kind.__name__}.{name}", set()))
    ]
    assert not missing, missing


def _sample(
    strategy: st.SearchStrategy[syntax.Node],
    seen: dict[str, set[object]],
    examples: int,
) -> None:
    @given(tree=strategy)
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def collect(tree: syntax.Node) -> None:
        _collect(tree, seen)

    collect()


def _kinds() -> list[type[syntax.Node]]:
    return [
        kind
        for kind in vars(syntax).values()
        if isinstance(kind, type)
        and issubclass(kind, syntax.Node)
        and kind not in (syntax.Node, syntax.Comment)
    ]


def _wanted(kind: type[syntax.Node]) -> dict[str, set[object]]:
    """Return the cases of each field that must be generated at least once."""
    wanted: dict[str, set[object]] = {"": {kind.__name__}}
    for field in dataclasses.fields(kind):
        if field.compare:
            wanted[field.name] = _choices(str(field.type))
            if (kind.__name__, field.name) in NEVER_EMPTY:
                wanted[field.name].remove("empty")
    return wanted


def _choices(annotation: str) -> set[object]:
    """Return the classes and constants of a type; for tuples, empty and not empty."""
    if annotation.startswith("tuple["):
        rest = annotation[annotation.rindex("]") + 1 :].removeprefix(" | ")
        return {"empty", "filled"} | (_choices(rest) if rest else set())
    choices: set[object] = set()
    for part in annotation.split(" | "):
        alias = getattr(syntax, part, None)
        if part.startswith("Literal["):
            choices |= set(ast.literal_eval(f"({part[8:-1]},)"))
        elif isinstance(alias, str):
            choices.add("a node")
        else:
            choices |= {True, False} if part == "bool" else {part}
    return choices


def _collect(node: syntax.Node, seen: dict[str, set[object]]) -> None:
    kind = type(node).__name__
    seen.setdefault(f"{kind}.", set()).add(kind)
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        found = seen.setdefault(f"{kind}.{field.name}", set())
        if isinstance(value, tuple):
            found.add("filled" if value else "empty")
            for each in value:
                if isinstance(each, syntax.Node):
                    _collect(each, seen)
        else:
            found.add("None" if value is None else type(value).__name__)
            found |= {value} if isinstance(value, str | bool) else set()
            if isinstance(value, syntax.Node):
                found.add("a node")
                _collect(value, seen)
