# SPDX-License-Identifier: Apache-2.0
"""Errors of commands: short, and complete with ``--debug``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from reactorl.cli import main as frame
from reactorl.cli.commands import check
from reactorl.cli.main import main
from reactorl.cli.support import console, errors
from reactorl.diagnostics import Diagnostic
from reactorl.errors import ProgramError
from reactorl.position import Position
from tests.cli.terminal import in_pipe

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

RAISES = "target Python\n\nmain reactor {\n  reaction(startup) {= 1 / 0 =}\n}\n"


def test_exception_of_a_body_is_short_and_complete_with_debug(tmp_path: Path) -> None:
    file = tmp_path / "raises.lf"
    file.write_text(RAISES)
    raises = str(file)
    status, short = in_pipe("run", raises)
    package = os.path.join("reactorl", "_runtime")  # noqa: PTH118

    assert status == 1
    assert "ZeroDivisionError: division by zero" in short
    assert package not in short
    for command in (["--debug", "run", raises], ["run", raises, "--debug"]):
        status, full = in_pipe(*command)
        assert status == 1
        assert package in full
        assert "fields of reactorl.ReactionError:\n" in full
        assert "\n  reaction = 'main." in full
        assert full.endswith(short)


def test_error_of_a_command_is_short_and_complete_with_debug(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["graph", "nowhere.lf"]) == 2
    short = capsys.readouterr().err
    assert main(["graph", "nowhere.lf", "--debug"]) == 2
    full = capsys.readouterr().err
    assert main(["graph", "nowhere.lf"]) == 2

    assert capsys.readouterr().err == short
    assert short.startswith("reactorl: error: file 'nowhere.lf' does not exist\n  help")
    assert full.startswith("Traceback (most recent call last):\n")
    assert "  what = \"file 'nowhere.lf' does not exist\"\n" in full
    assert full.endswith(short)


def test_debug_after_two_dashes_is_an_argument() -> None:
    assert frame._without_debug(["run", "--", "--debug"]) == ["run", "--", "--debug"]
    assert not console.debugging()


def test_unexpected_exception_is_short_and_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(_args: argparse.Namespace) -> int:
        msg = "seven"
        raise LookupError(msg)

    monkeypatch.setattr(check, "command", breaks)

    assert main(["check", "x.lf"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("reactorl: error: LookupError: seven (")
    assert "test_errors.py:" in said
    assert "reactorl doctor" in said
    assert "Traceback" not in said
    assert main(["check", "x.lf", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_missing_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def opens(_args: argparse.Namespace) -> int:
        raise FileNotFoundError(2, "No such file or directory", "x.lf")

    monkeypatch.setattr(check, "command", opens)

    assert main(["check", "x.lf"]) == 1
    assert capsys.readouterr().err == (
        "reactorl: error: x.lf: no such file or directory\n"
    )


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("lag is wrong", "reactorl: error: lag is wrong\n"),
        (
            Diagnostic("lag must be at least 0, got -1", remedy="Write 0."),
            "reactorl: error: lag must be at least 0, got -1\n  help: Write 0.\n",
        ),
        (
            ProgramError("no such port", Position("a.py", 3), "Write x."),
            "reactorl: error: a.py:3: no such port\n  help: Write x.\n",
        ),
        (
            Diagnostic("a loop", related=(Diagnostic("one"), Diagnostic("two"))),
            "reactorl: error: a loop:\n    one\n    two\n",
        ),
    ],
)
def test_fact_and_remedy_are_on_lines_of_their_own(
    what: Diagnostic | str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert errors.fail(what, 7) == 7
    assert capsys.readouterr().err == text


def test_remedy_can_be_given_with_the_fact(capsys: pytest.CaptureFixture[str]) -> None:
    assert errors.fail("no", help="Yes.", prog="reactorl run") == 2
    assert capsys.readouterr().err == "reactorl run: error: no\n  help: Yes.\n"


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert errors.missing(["os"], "train") is None

    monkeypatch.setattr(errors, "find_spec", lambda name: None)

    found = errors.missing(["jax", "optax"], "train")
    assert found is not None
    assert "'reactorl train' requires" in found.what
    assert found.what.endswith("not installed: jax, optax")
    assert "pip install 'reactorl[train]'" in found.remedy
