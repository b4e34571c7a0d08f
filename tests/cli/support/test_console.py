# SPDX-License-Identifier: Apache-2.0
"""Styles on terminals, plain text everywhere else."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.support import console
from tests.cli.terminal import STYLE, in_pipe, on_terminal

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("rich")

WRONG = "target Python\n\nmain reactor {\n  reaction(sensr) {= pass =}\n}\n"
RAISES = "target Python\n\nmain reactor {\n  reaction(startup) {= 1 / 0 =}\n}\n"


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    file = tmp_path / "wrong.lf"
    file.write_text(WRONG)
    return str(file)


def test_terminal_shows_the_same_text_with_styles(wrong: str) -> None:
    options = ["run", wrong, "--wrokers"]
    for command in (["check", wrong], ["run", wrong], ["rnu"], options):
        status, text = in_pipe(*command)
        shown = on_terminal(*command)

        assert "\x1b" not in text
        assert shown[1] != text
        assert (shown[0], STYLE.sub("", shown[1])) == (status, text) == (2, text)
        assert "\x1b[1;31merror:\x1b[0m" in shown[1]
        assert "\x1b[1;32mhelp:\x1b[0m" in shown[1]


def test_position_and_carets_have_styles(wrong: str) -> None:
    shown = on_terminal("check", wrong)[1]

    assert f"\x1b[1m{wrong}:4:12: \x1b[0m" in shown
    assert "\x1b[1;31m    |            ^^^^^\x1b[0m" in shown


def test_long_lines_are_not_wrapped_by_styles(tmp_path: Path) -> None:
    file = tmp_path / f"{'long' * 40}.lf"
    file.write_text(WRONG)

    shown = on_terminal("check", str(file), COLUMNS="20")[1]

    assert STYLE.sub("", shown) == in_pipe("check", str(file))[1]


def test_exception_of_a_body_has_a_style(tmp_path: Path) -> None:
    file = tmp_path / "raises.lf"
    file.write_text(RAISES)

    status, shown = on_terminal("run", str(file))

    assert status == 1
    assert "\x1b[1;31mZeroDivisionError: division by zero\x1b[0m\n" in shown
    assert STYLE.sub("", shown) == in_pipe("run", str(file))[1]


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_styles_can_be_switched_off(environment: dict[str, str], wrong: str) -> None:
    assert "\x1b" not in on_terminal("check", wrong, **environment)[1]


def test_no_color_takes_precedence_over_force_color(wrong: str) -> None:
    assert "\x1b" in in_pipe("check", wrong, FORCE_COLOR="1")[1]
    both = in_pipe("check", wrong, FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b" not in both[1]


def test_without_rich_text_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    forced = {"FORCE_COLOR": "1"}
    assert console.is_styled(sys.stdout, forced)

    monkeypatch.setattr(console, "find_spec", lambda _name: None)

    assert not console.is_styled(sys.stdout, forced)


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("no_color", ["", "1"])
def test_control_characters_are_not_sent_to_terminals(
    no_color: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen()

    console.say("a\x1b]0;title\x07.lf", (" error:\n", "bold red"), stream=screen)

    assert "\x1b]" not in screen.getvalue()
    assert "\x07" not in screen.getvalue()
    assert screen.getvalue().startswith("a\N{REPLACEMENT CHARACTER}]0;title")


def test_closed_stream_is_not_a_terminal() -> None:
    stream = io.StringIO()
    stream.close()

    assert not console.is_terminal(stream)


def test_plain_tables_are_aligned() -> None:
    table = console.Table(
        "title", ("name", "runs"), [("a", "1"), ("long", "1,000")], ["A note."]
    )

    assert console.plain_table(table) == (
        "title\n  name   runs\n  a         1\n  long  1,000\n  A note."
    )


def test_cells_have_no_control_characters() -> None:
    text = console.plain_table(console.Table("a\nb", ("c",), [("d\x1b[0m\te",)]))

    assert text.splitlines() == ["a b", "  c", "  d\N{REPLACEMENT CHARACTER}[0m e"]
