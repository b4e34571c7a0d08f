# SPDX-License-Identifier: Apache-2.0
"""Formatting changes only whitespace and tokens without meaning."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactorl.lf.diagnostics import Report
from reactorl.lf.format.format import format_text, normalise
from reactorl.lf.format.printer import to_text
from reactorl.lf.parse import syntax
from reactorl.lf.parse.keywords import END
from reactorl.lf.parse.lexer import Lexer
from reactorl.lf.source import Source, Span
from tests.lf import trees
from tests.lf.format.test_round_trip import PROGRAMS, ROOT, read
from tests.lf.work import calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANKS = ["", "", "", " ", "\n", "\n\n\n", "\n   "]
_COMMENTS = [
    "// line\n",
    "# hash   \n",
    "/* block */",
    "/*\n * star\n     */",
    "''' quotes '''",
    "'''\n\n'''",
    "// it's {= odd =}\n",
]


def formatted(text: str) -> str:
    report = Report()
    result = format_text(Source(Path("test.lf"), text), report)
    assert result is not None, "\n".join(d.render() for d in report.diagnostics)
    return result


def comments(text: str) -> Counter[str]:
    """Return how often each comment occurs, ignoring whitespace in its lines."""
    found = read(text)[0].comments
    return Counter(" ".join(c.text.split()) for c in found)


def assert_only_looks_change(text: str) -> None:
    tree, report = read(text)
    if report.failed:
        found = Report()
        assert format_text(Source(Path("test.lf"), text), found) is None
        assert found.failed
        return

    result = formatted(text)

    assert formatted(result) == result
    assert normalise(read(result)[0]) == normalise(tree)
    assert comments(result) == comments(text)
    between = _between(result).replace("\r\n", "\n")
    assert "\n\n\n" not in between
    assert not any(line != line.rstrip() for line in between.split("\n"))
    assert result.endswith("\n") or not result


def _words(text: str) -> list[Span]:
    lexer = Lexer(text)
    words = []
    while (token := lexer.next()).kind != END:
        words.append(token.span)
    return words


def _spans(node: syntax.Node) -> Iterator[Span]:
    """Yield the spans of texts that formatting must not change."""
    if isinstance(node, syntax.Code | syntax.String | syntax.Type | syntax.Comment):
        yield node.span
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, syntax.Node):
                yield from _spans(each)


def _between(text: str) -> str:
    """Return a text with an x for everything that may contain whitespace."""
    parts, at = [], 0
    for span in sorted(_spans(read(text)[0]), key=lambda span: span.start):
        if span.start >= at:
            parts.append(text[at : span.start])
            at = span.end
    return "x".join([*parts, text[at:]])


@st.composite
def untidy(draw: st.DrawFn) -> str:
    """Return a program with whitespace and comments between any tokens."""
    text = to_text(draw(trees.files))
    parts, at = [], 0
    for word in _words(text):
        gap = text[at : word.start]
        noise = draw(st.sampled_from(_BLANKS))
        if draw(st.integers(0, 5)) == 0:
            noise += draw(st.sampled_from(_COMMENTS)) + draw(st.sampled_from(_BLANKS))
        parts += [
            draw(st.sampled_from([gap + noise, noise + gap])),
            text[word.start : word.end],
        ]
        at = word.end
    return "".join([*parts, text[at:], draw(st.sampled_from(["", *_COMMENTS]))])


@given(text=untidy())
@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=100)
def test_formatting_keeps_program_and_comments(text: str) -> None:
    assert_only_looks_change(text)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: str(p.relative_to(ROOT)))
def test_formatting_keeps_our_programs(path: Path) -> None:
    assert_only_looks_change(path.read_bytes().decode("utf-8", errors="replace"))


def test_file_with_syntax_errors_is_not_formatted() -> None:
    report = Report()

    result = format_text(Source(Path("test.lf"), "reactor { inptu x"), report)

    assert result is None
    assert report.failed


def test_file_with_warnings_is_formatted() -> None:
    report = Report()
    source = Source(Path("test.lf"), "reactor R { action a\n}")

    assert format_text(source, report) == "reactor R {\n  action a\n}\n"
    assert report.diagnostics == []


def test_number_of_calls_is_linear() -> None:
    def work(members: int) -> int:
        text = "reactor R {\n" + "input a // x\nstate b = [1,2]\n" * members + "}\n"
        return calls_of(lambda: formatted(text))

    work(10)

    assert work(1000) < 10.5 * work(100)
