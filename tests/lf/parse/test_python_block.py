"""Code blocks are dedented, and offsets map back to the source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactorl.lf.parse.python_block import python_block
from reactorl.lf.parse.syntax import Code
from reactorl.lf.source import Span

BEFORE = "reaction(x) "


def block_of(text: str) -> Code:
    start = len(BEFORE)
    return Code(text, span=Span(start, start + len(text) + 4))


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("", ""),
        ("   ", ""),
        (" x ", "x"),
        ("\n    a\n      b\n\n    c\n  ", "a\n  b\n\nc"),
        ("\r\n  a\r\n  b\r\n", "a\nb"),
        ("\n\ta\n\t\tb\n", "a\n\tb"),
        # A string that is indented less than the code keeps its text.
        ('\n    s = """\n  x"""\n    t\n', '  s = """\nx"""\n  t'),
        # A line beside the opening mark has no indentation to compare with.
        (" a\n      b\n      c\n", "a\nb\nc"),
        (" if a:  # why\n  b\n  c\n", "if a:  # why\n    b\n    c"),
        ("\n  a\n   ", "a"),
    ],
)
def test_smallest_indentation_is_removed(text: str, python: str) -> None:
    assert python_block(block_of(text)).text == python


@given(st.text(alphabet=" \t\n\rab:#", max_size=60))
def test_offset_of_every_character_is_its_offset_in_the_source(text: str) -> None:
    source = f"{BEFORE}{{={text}=}}"

    block = python_block(block_of(text))

    for n, line in enumerate(block.lines):
        for column, character in enumerate(line):
            if character not in " \t":
                assert source[block.offset(n, column)] == character
    kept = "".join(block.text.split())
    assert kept == "".join(text.split())
