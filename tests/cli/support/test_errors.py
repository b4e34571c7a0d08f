# SPDX-License-Identifier: Apache-2.0
"""What commands say: help that reads well, and mistakes in the same way everywhere."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl.cli import main as frame
from reactorl.cli.commands import check
from reactorl.cli.main import COMMANDS, GROUPS, main
from reactorl.cli.support import console as terminal
from reactorl.cli.support import errors as failures
from reactorl.rl.flow.algorithm import FlowError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

WRONG = "target Python\n\nmain reactor {\n  reaction(sensr) {= pass =}\n}\n"
RAISES = "target Python\n\nmain reactor {\n  reaction(startup) {= 1 / 0 =}\n}\n"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _environment(**changes: str) -> dict[str, str]:
    unwanted = ("FORCE_COLOR", "NO_COLOR")
    kept = {k: v for k, v in os.environ.items() if k not in unwanted}
    return {**kept, "TERM": "xterm", "COLUMNS": "80", **changes}


def on_a_pipe(*args: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "reactorl", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        env=_environment(**environment),
        timeout=60,
    )
    return done.returncode, done.stdout


def on_a_terminal(*args: str, **environment: str) -> tuple[int, str]:
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "reactorl", *args],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=_environment(**environment),
    ) as process:
        os.close(theirs)
        screen = b""
        with contextlib.suppress(OSError):  # how the end is told on a terminal
            while chunk := os.read(ours, 65536):
                screen += chunk
        os.close(ours)
    return process.returncode, screen.decode().replace("\r\n", "\n")


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    file = tmp_path / "wrong.lf"
    file.write_text(WRONG)
    return str(file)


@pytest.fixture
def raises(tmp_path: Path) -> str:
    file = tmp_path / "raises.lf"
    file.write_text(RAISES)
    return str(file)


# -- colours --------------------------------------------------------------------------


def test_a_terminal_shows_the_same_text_in_colours(wrong: str) -> None:
    options = ["run", wrong, "--wrokers"]
    for command in (["check", wrong], ["run", wrong], ["rnu"], options):
        status, plain = on_a_pipe(*command)
        shown = on_a_terminal(*command)

        assert "\x1b" not in plain
        assert shown[1] != plain
        assert (shown[0], COLOUR.sub("", shown[1])) == (status, plain) == (2, plain)
        assert "\x1b[1;31merror:\x1b[0m" in shown[1]
        assert "\x1b[1;32mhelp:\x1b[0m" in shown[1]


def test_the_place_and_the_carets_stand_out(wrong: str) -> None:
    shown = on_a_terminal("check", wrong)[1]

    assert f"\x1b[1m{wrong}:4:12: \x1b[0m" in shown
    assert "\x1b[1;31m           ^^^^^\x1b[0m" in shown


def test_what_was_raised_stands_out(raises: str) -> None:
    status, shown = on_a_terminal("run", raises)

    assert status == 1
    assert "\x1b[1;31mZeroDivisionError\x1b[0m: division by zero\n" in shown
    assert COLOUR.sub("", shown) == on_a_pipe("run", raises)[1]


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(
    environment: dict[str, str], wrong: str
) -> None:
    assert "\x1b" not in on_a_terminal("check", wrong, **environment)[1]


def test_colours_can_be_forced_and_no_color_counts_more(wrong: str) -> None:
    assert "\x1b" in on_a_pipe("check", wrong, FORCE_COLOR="1")[1]
    both = on_a_pipe("check", wrong, FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b" not in both[1]


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    assert "\x1b]" not in terminal.painted("a\x1b]0;title\x07.lf:1:1: error: no")


# -- how much is said -----------------------------------------------------------------


def test_an_exception_of_a_body_is_short_and_full_with_debug(raises: str) -> None:
    status, short = on_a_pipe("run", raises)
    package = os.path.join("reactorl", "_runtime")  # noqa: PTH118

    assert status == 1
    assert "ZeroDivisionError: division by zero" in short
    assert package not in short
    for command in (["--debug", "run", raises], ["run", raises, "--debug"]):
        status, full = on_a_pipe(*command)
        assert status == 1
        assert package in full
        assert "fields of reactorl.ReactionError:\n  reaction = " in full
        assert full.endswith(short)


def test_errors_of_commands_are_short_and_full_with_debug(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["eval", "nowhere"]) == 2
    short = capsys.readouterr().err
    assert main(["eval", "nowhere", "--debug"]) == 2
    full = capsys.readouterr().err
    assert main(["eval", "nowhere"]) == 2

    assert capsys.readouterr().err == short
    assert short == (
        "reactorl: error: nowhere: there is no such directory\n"
        "  help: 'reactorl runs' lists the runs there are.\n"
    )
    assert full.startswith("Traceback (most recent call last):\n")
    assert "  what = 'there is no such directory'\n" in full
    assert full.endswith(short)


def test_debug_after_two_dashes_is_not_ours() -> None:
    assert frame._without_debug(["run", "--", "--debug"]) == ["run", "--", "--debug"]
    assert not terminal.debugging()


def test_what_no_command_expects_is_short_and_says_what_to_do(
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


def test_files_that_are_missing_are_no_mistake_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def opens(_args: argparse.Namespace) -> int:
        raise FileNotFoundError(2, "No such file or directory", "x.lf")

    monkeypatch.setattr(check, "command", opens)

    assert main(["check", "x.lf"]) == 1
    assert capsys.readouterr().err == (
        "reactorl: error: x.lf: no such file or directory\n"
    )


def test_the_way_out_has_a_line_of_its_own() -> None:
    assert failures.message(FlowError("lag is -1 rounds", "It is 0 or more.")) == (
        "reactorl: error: lag is -1 rounds\n  help: It is 0 or more.\n"
    )
    assert failures.message("no. Nothing.") == "reactorl: error: no. Nothing.\n"


# -- mistyped -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "what", "help"),
    [
        (["chekc"], "reactorl: error: there is no command 'chekc'", "'check'"),
        (["xyz"], "reactorl: error: there is no command 'xyz'", "reactorl --help"),
        (["--versio"], "reactorl: error: there is no option '--versio'", "--version"),
        (
            ["fmt", "no.lf", "--dif"],
            "reactorl fmt: error: there is no option",
            "'--diff'",
        ),
        (["run", "no.lf", "--sede=1"], "reactorl run: error: ", "'--seed'"),
        (["runs", "--q"], "there is no option '--q'", "reactorl runs --help"),
    ],
)
def test_what_was_probably_meant_is_said(
    args: list[str], what: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(args)

    lines = capsys.readouterr().err.splitlines()
    assert exit_.value.code == 2
    assert len(lines) == 3
    assert what in lines[1]
    assert lines[2].startswith("  help: ")
    assert help in lines[2]


# -- help -----------------------------------------------------------------------------


def _help(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main([*args, "--help"])
    assert exit_.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_and_has_examples(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = _help(capsys, *command.split())

    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert f"examples:\n  reactorl {command}" in shown
    assert "--debug" in shown
    if command:
        assert "exit status: 0" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_is_explained(command: str) -> None:
    _, parsers = frame.make_parser(command)

    for action in parsers[command]._actions:
        assert action.help, action.dest
        assert "%(default)s" not in action.help or action.default is not None


def test_every_command_is_in_a_group_and_has_a_summary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = _help(capsys)

    for title, group in GROUPS.items():
        if not group:
            continue
        part = shown.split(f"\n{title}:\n")[1].split("\n\n")[0]
        assert [line.split()[0] for line in part.splitlines()] == list(group)
        for name, summary in group.items():
            assert re.search(rf"^  {name} +{re.escape(summary)}$", part, re.MULTILINE)
            assert summary[0].islower()
            assert not summary.endswith(".")


def test_all_algorithms_are_in_the_help_of_train(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from reactorl.rl.algorithms.registry import ALGORITHMS

    part = _help(capsys, "train").split("\nalgorithms:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in part.splitlines()] == list(ALGORITHMS)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_starts_without_loading_what_is_slow(command: str) -> None:
    slow = {"numpy", "jax", "gymnasium", "torch", "matplotlib", "cyclopts"}
    code = (
        "import sys; from reactorl.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        f"except SystemExit: print('loaded', *({slow!r} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--help"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1].rstrip() == "loaded"
