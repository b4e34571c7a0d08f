# SPDX-License-Identifier: Apache-2.0
"""The help of all commands."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl.cli import main as frame
from reactorl.cli.commands.train import flags_of
from reactorl.cli.main import COMMANDS, GROUPS, main
from reactorl.cli.support.run_options import normalised

if TYPE_CHECKING:
    from pathlib import Path


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
def test_every_argument_has_help(command: str) -> None:
    _, parsers = frame.make_parser(command)

    for action in parsers[command]._actions:
        assert action.help, action.dest
        assert "%(default)s" not in action.help or action.default is not None


def test_every_command_is_in_a_group_with_a_summary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = _help(capsys)

    for title, group in GROUPS.items():
        part = shown.split(f"\n{title}:\n")[1].split("\n\n")[0]
        assert [line.split()[0] for line in part.splitlines()] == list(group)
        for name, summary in group.items():
            assert re.search(rf"^  {name} +{re.escape(summary)}$", part, re.MULTILINE)
            assert summary[0].islower()
            assert not summary.endswith(".")


def test_help_of_train_lists_all_algorithms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from reactorl.rl.algorithms.registry import ALGORITHMS

    part = _help(capsys, "train").split("\nalgorithms:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in part.splitlines()] == list(ALGORITHMS)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_does_not_import_heavy_packages(command: str) -> None:
    heavy = {"numpy", "jax", "gymnasium", "torch", "matplotlib", "cyclopts"}
    code = (
        "import sys; from reactorl.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        f"except SystemExit: print('loaded', *({heavy!r} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--help"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1].rstrip() == "loaded"


def _examples() -> list[str]:
    """Return the example lines in the help of all commands, without explanations."""
    found = []
    for name in COMMANDS:
        epilog = frame.make_parser(name)[1][name].epilog or ""
        lines = epilog.split("examples:\n")[1].split("\n\n")[0].splitlines()
        found += [re.split(r" {2,}", line.strip())[0] for line in lines]
    lines = (frame.make_parser()[0].epilog or "").splitlines()
    found += [re.split(r" {2,}", line.strip())[0] for line in lines if "  " in line]
    return [line for line in found if line.startswith("reactorl ")]


@pytest.mark.parametrize("line", _examples())
def test_examples_are_valid_command_lines(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, command, *args = re.split(r" [|<>] ", line)[0].split()
    if command == "run":
        args = normalised(args)

    parsed, unknown = frame.make_parser(command)[0].parse_known_args([command, *args])

    assert unknown == []
    if command == "train" and not parsed.list_presets:
        flags_of(parsed.algorithm).parse(parsed.flags)
