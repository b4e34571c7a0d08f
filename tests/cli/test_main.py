# SPDX-License-Identifier: Apache-2.0
"""Dispatch to commands, and their exit statuses."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.commands import check
from reactorl.cli.main import COMMANDS, main

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

HELLO = "target Python\n\nmain reactor {\n  reaction(startup) {= print() =}\n}\n"


def reactorl(*args: str, code: str = "") -> subprocess.CompletedProcess[str]:
    how = ["-c", code] if code else ["-m", "reactorl"]
    return subprocess.run(
        [sys.executable, *how, *args], capture_output=True, text=True, check=False
    )


def test_help_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--help"])

    shown = capsys.readouterr().out
    assert exit_.value.code == 0
    assert all(f"  {name} " in shown for name in COMMANDS)
    assert "examples:" in shown


def test_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])

    assert exit_.value.code == 0
    assert capsys.readouterr().out.startswith("reactorl ")


def test_help_is_shown_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: reactorl" in capsys.readouterr().err


@pytest.mark.parametrize(
    "args", [["frobnicate"], ["--nonsense"], ["fmt"], ["check"], ["fmt", "--nonsense"]]
)
def test_wrong_arguments_exit_with_2(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(args)

    assert exit_.value.code == 2
    assert "usage: reactorl" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([name, "--help"])

    assert exit_.value.code == 0
    assert f"usage: reactorl {name}" in capsys.readouterr().out


def test_module_is_the_command(tmp_path: Path) -> None:
    file = tmp_path / "Hello.lf"
    file.write_text(HELLO)

    done = reactorl("fmt", "--check", str(file))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "unwanted"),
    [("fmt", ["check", "run"]), ("check", ["fmt", "run"])],
)
def test_other_commands_are_not_imported(
    name: str, unwanted: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "Hello.lf"
    file.write_text(HELLO)
    code = (
        "import sys; from reactorl.cli.main import main; main(sys.argv[1:]); "
        "print(*(m for m in sys.modules if m.startswith('reactorl.cli.')))"
    )

    loaded = reactorl(name, str(file), code=code).stdout.split()

    assert f"reactorl.cli.commands.{name}" in loaded
    assert not {f"reactorl.cli.commands.{other}" for other in unwanted} & {*loaded}


def test_reader_that_ends_early_is_not_an_error(tmp_path: Path) -> None:
    file = tmp_path / "Big.lf"
    file.write_text("reactor R {\n" + "input a; output b\n" * 20_000 + "}\n")
    with subprocess.Popen(
        [sys.executable, "-m", "reactorl", "fmt", "--diff", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read().decode()

    assert process.returncode == 1
    assert "Traceback" not in said
    assert "Exception ignored" not in said


def test_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "command", interrupted)

    assert main(["check", "x.lf"]) == 130


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (MemoryError(), "memory is exhausted"),
        (MemoryError("Unable to allocate 2 TiB"), "memory is exhausted: Unable to"),
    ],
)
def test_exhausted_memory_is_no_defect(
    error: MemoryError,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("reactorl.cli.commands.completion.command", fail)

    assert main(["completion", "bash"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"reactorl: error: {what}")
    assert "defect" not in said
    assert "help: Use smaller sizes, or a machine with more memory." in said
