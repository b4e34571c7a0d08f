# SPDX-License-Identifier: Apache-2.0
"""Parsing any text returns a tree and diagnostics, in linear time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl.lf.diagnostics import Report
from reactorl.lf.parse import syntax
from reactorl.lf.parse.keywords import KEYWORDS
from reactorl.lf.parse.lalr import LalrParser
from reactorl.lf.parse.lexer import Lexer
from reactorl.lf.parse.parser import MOST_ERRORS, parse
from reactorl.lf.places import span_of
from reactorl.lf.source import Source
from tests.lf.work import calls_of

PROGRAMS = [
    path.read_text(encoding="utf-8")
    for path in sorted(Path(__file__).parents[2].glob("conformance/**/*.lf"))
    if path.stat().st_size < 3000
][::7]

WORDS = st.sampled_from([
    *sorted(KEYWORDS), *"{}()[],;:.=+*<>@'\"#$", "->", "~>", "{=", "=}", "//",
    "'''", '"""', "/*", "*/", "5", "5 ms", "1.5 s", "x", "y", "R", "\n", "\n",
    "true", "forever", 'f"{x=}"', "x = new R()", "reaction(a) -> b {= c =}\n",
])  # fmt: skip


def check(text: str) -> None:
    report = Report()

    tree = parse(Source(Path("fuzz.lf"), text), report)

    assert isinstance(tree, syntax.File)
    assert len(report.diagnostics) <= MOST_ERRORS + 1
    for diagnostic in report.in_order():
        span = span_of(diagnostic)
        assert span is not None
        assert 0 <= span.start <= span.end <= len(text) + 1
        assert diagnostic.what
        assert diagnostic.render()


@given(st.text(max_size=300))
def test_random_characters(text: str) -> None:
    check(text)


@given(st.lists(WORDS, max_size=60).map(" ".join))
def test_random_tokens(text: str) -> None:
    check(text)


@given(st.lists(WORDS, max_size=60).map(" ".join))
def test_random_tokens_in_a_reactor(text: str) -> None:
    check(f"reactor A {{ {text} }} reactor B {{ }}")


@settings(deadline=None)
@given(st.data())
def test_mutated_program(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(PROGRAMS))
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 20))
        text = text[:start] + data.draw(WORDS | st.text(max_size=3)) + text[
            start + length :
        ]  # fmt: skip

    check(text)


@settings(deadline=None)
@given(st.sampled_from(PROGRAMS), st.data())
def test_truncated_program(program: str, data: st.DataObject) -> None:
    check(program[: data.draw(st.integers(0, len(program)))])


# -- time --

SHAPES = {
    "connections": ("reactor A {\n", "a.b -> c.d\n", "}"),
    "reactors": ("", "reactor A { state x = 5 ms }\n", ""),
    "lists": ("reactor A { state x = [", "1, ", "] }"),
    "attributes": ("reactor A { ", "@a ", "input x }"),
    "properties": ("target Python {", "a: b, ", "}"),
    "blanks": ("reactor A { state x = 5", " \n", "}"),
    "brackets": ("reactor A { state x = ", "[", ""),
    "lines of parentheses": ("reactor A {\n", "(\n", ""),
    "open blocks": ("reactor A {", "{= ", ""),
    "names": ("", "x ", ""),
    "one name": ("", "x", ""),
    "one number": ("reactor A { state x = ", "9", "}"),
    "marks": ("", "$ ", ""),
    "minus signs": ("reactor A { a ", "-", ""),
    "dots": ("target Python { a: ", "../", "}"),
    "quotes": ("reactor A { state x = ", '"', "}"),
    "open long strings": ("reactor A { state x = ", '"""\n', ""),
    "open angles": ("", "import A from <\n", ""),
    "quotes in code": ("preamble {= ", "'\\", ""),
    "long quotes in code": ("preamble {= ", '\\"""', ""),
    "nested f-strings": ("preamble {= ", 'f"{', ""),
    "lines of f-strings": ("preamble {= ", 'f"{f"{f"{\n', ""),
    "comments in code": ("preamble {= ", "# {x=} =} y\n", ""),
    "one comment in code": ("preamble {= #", " {x=} =} y", ""),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_number_of_tokens_read_is_linear(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, middle, end = SHAPES[shape]
    work = 0
    lex, apply = Lexer.next, LalrParser._apply

    def counted_lex(self: Lexer) -> object:
        nonlocal work
        work += 1
        return lex(self)

    def counted_apply(self: LalrParser, rule: int, at: int) -> None:
        nonlocal work
        work += 1
        apply(self, rule, at)

    monkeypatch.setattr(Lexer, "next", counted_lex)
    monkeypatch.setattr(LalrParser, "_apply", counted_apply)

    def work_for(times: int) -> int:
        nonlocal work
        work = 0
        check(start + middle * times + end)
        return work

    assert work_for(4000) <= 4 * work_for(1000) + 300


@pytest.mark.parametrize("shape", SHAPES)
def test_number_of_calls_is_linear(shape: str) -> None:
    start, middle, end = SHAPES[shape]

    def calls_for(length: int) -> int:
        text = start + middle * (length // len(middle)) + end
        source = Source(Path("long.lf"), text)
        return calls_of(lambda: parse(source, Report()))

    calls_for(100)

    assert calls_for(40_000) <= 9 * calls_for(5_000) + 1_000
