# SPDX-License-Identifier: Apache-2.0
"""The end of a code block is found by Python's rules for strings and comments."""

from __future__ import annotations

import pytest

from reactorl.lf.parse.code_block import CodeScanner
from tests.lf.parsing import attempt, problems


def end_of(code: str) -> str:
    """Return the code of the block that begins with ``code``."""
    block = CodeScanner("{=" + code).block(0)
    assert block.closed
    assert block.end == block.text_end + 2
    return ("{=" + code)[2 : block.text_end]


@pytest.mark.parametrize(
    "code",
    [
        "",
        " pass ",
        "\n  x = 1\n",
        ' f"{x=}" ',
        " f'{x=}' ",
        ' F"{x=}" rb"=}" Rb\'=}\' u"=}" ',
        ' f"{x=!r:>{w=}}" ',
        ' f"{{=}}" ',
        ' f"{ {1: 2}[1]=}" ',
        ' f"{f(x=3)=}" ',
        ' f"""{x=}\n"quoted" {y=}""" ',
        ' f"{d["key =}"]=}" ',
        """ f"{f'{f"{x=}"}'}" """,
        ' f"{x:%H:%M}" "=}" ',
        ' f"{x:{{1: "=}"}[1]}}" ',
        " fr'\\{x=}' ",
        ' "=}" ',
        " '=}' ",
        ' "\\"=}" ',
        " '\\\\' ",
        " r'\\' =}' ",
        ' """a\n=} "b" \\""" =}""" ',
        " '''it's =}''' ",
        " 'a\\\n=}' ",
        "\n# don't\n",
        '\n# "\n',
        "\n# ''' and \"\"\"\n",
        '\n# print(f"{x=}")\npass\n',
        "\n# {= a block =}\npass\n",
        "\n# the mark =} ends a block\npass\n",
        " x = a // 2 ",
        " x = {'a': 1} ",
        " x == y; d = {x} ",
        "\nprint('it\npass\n",
        '\nprint("it\npass\n',
        " 'a' 'b ",
        ' x = if"a =}" ',
    ],
)
def test_whole_text_is_the_block(code: str) -> None:
    after = "=}\nstate y = '=}' // ' =}"

    assert end_of(code + after) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" x() # why =}", " x() # why "),
        (" x() # why =}\n}", " x() # why "),
        (" x() # why =};", " x() # why "),
        (" x() # why =} }", " x() # why "),
        (" x() # why =} deadline(1 s) {= =}", " x() # why "),
        (" x() # why =} // more", " x() # why "),
        (" x() # why =} + 2] A()", " x() # why "),
        (" x() # why =} + {= y =}] A()", " x() # why "),
        ("1 # one =}, q = 2)", "1 # one "),
        (" # {x=} =}", " # {x=} "),
        (" print(f'{x =}", " print(f'{x "),
        (' """ never closed =}', ' """ never closed '),
        (' f"{x =}', ' f"{x '),
        (" 'a =}", " 'a "),
    ],
)
def test_end_of_block(text: str, code: str) -> None:
    assert end_of(text) == code


def test_unclosed_block_is_one_error_and_ends_before_the_next_member() -> None:
    text = (
        "reactor R {\n"
        "  reaction(a) {=\n"
        "    state = 1\n"
        "    input('name')\n"
        "\n"
        "  @label\n"
        "  reaction(b) -> c {= pass =}\n"
        "  timer t\n"
        "}\n"
    )

    tree, found = attempt(text)

    assert found == ["2:15: this code block is not closed | End it with =}"]
    first, second, timer = tree.reactors[0].members
    assert first.code.text == "\n    state = 1\n    input('name')"  # type: ignore[union-attr]
    assert second.code.text == " pass "  # type: ignore[union-attr]
    assert timer.name.text == "t"  # type: ignore[union-attr]


def test_unclosed_block_contains_statements_that_are_one_word() -> None:
    text = "reactor R {\n  reaction(a) {=\n    x = 1\n    pass\n  timer t\n}\n"

    tree, found = attempt(text)

    assert found == ["2:15: this code block is not closed | End it with =}"]
    first, timer = tree.reactors[0].members
    assert first.code.text == "\n    x = 1\n    pass"  # type: ignore[union-attr]
    assert timer.name.text == "t"  # type: ignore[union-attr]


def test_unclosed_last_block_does_not_contain_the_closing_braces() -> None:
    text = "reactor R {\n  reaction(a) {=\n    x = {1: 2}\n\n}\n// end\n"

    tree, found = attempt(text)

    assert found == ["2:15: this code block is not closed | End it with =}"]
    assert len(tree.reactors[0].members) == 1


def test_unclosed_block_at_the_start_of_a_file_is_one_error() -> None:
    assert problems("preamble {= x = '''") == [
        "1:10: this code block is not closed | End it with =}"
    ]
