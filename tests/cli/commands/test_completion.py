# SPDX-License-Identifier: Apache-2.0
"""The tab key: scripts for shells, tried in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.commands import completion
from reactorl.cli.main import COMMANDS, main

if TYPE_CHECKING:
    from pathlib import Path


def needs(shell: str) -> pytest.MarkDecorator:
    missing = shutil.which(shell) is None
    return pytest.mark.skipif(missing, reason=f"there is no {shell} here")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a directory with programs and runs, and reactorl as a command."""
    for name in ("hello.lf", "my file.lf", "notes.txt", "robot.py"):
        (tmp_path / name).touch()
    for name in ("src", "runs/CartPole__dqn", "runs/Pendulum__ppo", "bin"):
        (tmp_path / name).mkdir(parents=True)
    program = tmp_path / "bin" / "reactorl"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reactorl "$@"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "bin"))  # nothing of the user's is read
    return tmp_path


def script(shell: str, place: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", shell]) == 0
    file = place / f"bin/completion.{shell}"
    file.write_text(capsys.readouterr().out)
    return file


def output(*command: str) -> list[str]:
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def bash(file: Path, *words: str) -> list[str]:
    """Return what bash offers after these words, of which the last is begun."""
    code = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
        'complete -p reactorl >/dev/null; _reactorl; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    found = output("bash", "--norc", "-c", code, "bash", str(file), "reactorl", *words)
    return sorted(found) if found != [""] else []


def fish(file: Path, *words: str) -> list[str]:
    line = " ".join(["reactorl", *words])
    code = f"source {file}; complete -C '{line}'"
    found = output("fish", "--no-config", "-c", code)
    return sorted(offer.partition("\t")[0] for offer in found)


@needs("bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ([""], sorted(COMMANDS)),
        (["--v"], ["--version"]),
        (["--debug", "fm"], ["fmt"]),
        (["run", ""], ["bin", "hello.lf", "my file.lf", "runs", "src"]),
        (["run", "he"], ["hello.lf"]),
        (["run", "--timeo"], ["--timeout"]),
        (["run", "-l", "de"], ["debug"]),
        (["run", "--logging", "=", "e"], ["error"]),
        (["run", "--logging", "="], ["debug", "error", "info", "log", "warn"]),
        (["run", "--seed", ""], []),
        (["run", "r"], ["runs"]),
        (["graph", "r"], ["robot.py", "runs"]),
        (["graph", "h"], ["hello.lf"]),
        (["trace", "n"], ["notes.txt"]),
        (["run", "--trace", "n"], ["notes.txt"]),
        (["run", "--fast", "hel"], ["hello.lf"]),
        (["eval", ""], ["runs/CartPole__dqn", "runs/Pendulum__ppo"]),
        (["plot", "runs/a", "runs/P"], ["runs/Pendulum__ppo"]),
        (["runs", "--runs-dir", "s"], ["src"]),
        (["train", ""], ["dqn", "impala", "ippo", "ppo", "q-learning"]),
        (["completion", "z"], ["zsh"]),
        (["nonsense", ""], []),
    ],
    ids=" ".join,
)
def test_bash_offers_what_fits(
    words: list[str],
    offered: list[str],
    place: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert bash(script("bash", place, capsys), *words) == offered


@needs("bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["train", "dqn", "--env"], ["--env-id"]),
        (["train", "ppo", "--resume", "runs/C"], ["runs/CartPole__dqn"]),
        (["train", "dqn", "--seed", ""], []),
        (["train", "dqn", "--track", "--no-an"], ["--no-anneal-lr"]),
    ],
    ids=" ".join,
)
def test_bash_offers_the_flags_of_an_algorithm(
    words: list[str],
    offered: list[str],
    place: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("jax")
    assert bash(script("bash", place, capsys), *words) == offered


@needs("fish")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["fm"], ["fmt"]),
        (["run", "--timeo"], ["--timeout"]),
        (["run", "-l", "de"], ["debug"]),
        (["run", "hel"], ["hello.lf"]),
        (["graph", "ro"], ["robot.py"]),
        (["eval", "''"], ["runs/CartPole__dqn/", "runs/Pendulum__ppo/"]),
        (["train", "d"], ["dqn"]),
    ],
    ids=" ".join,
)
def test_fish_offers_what_fits(
    words: list[str],
    offered: list[str],
    place: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if words[-1] == "''":
        words = [*words[:-1], ""]
    assert fish(script("fish", place, capsys), *words) == offered


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_scripts_are_right(
    shell: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = script(shell, place, capsys)
    text = file.read_text()

    assert "@" not in text.replace('"$@"', "").replace("[@]", "")
    assert all(name in text for name in COMMANDS)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    assert output(shell, "-n", str(file)) == []


ZSH = """\
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -U compinit && compinit -u -D -d $HOME/dump; source $1"
zpty -w shell "zstyle ':completion:*' list-colors ''; PS1=; stty columns 200"
zpty -w shell "echo rea''dy"
zpty -r shell said "*ready*"
zpty -w -n shell "$2"$'\\t'
zpty -w -n shell $'\\n'
zpty -w shell "echo; echo fin''ished"
zpty -r shell said "*finished*"
print -r -- $said
zpty -d shell
"""


@needs("zsh")
@pytest.mark.parametrize(
    ("begun", "completed"),
    [
        ("reactorl doc", "reactorl doctor"),
        ("reactorl check he", "reactorl check hello.lf"),
        ("reactorl run --timeo", "reactorl run --timeout"),
        ("reactorl train q", "reactorl train q-learning"),
        ("reactorl eval runs/C", "reactorl eval runs/CartPole__dqn"),
    ],
)
def test_zsh_completes_what_was_begun(
    begun: str, completed: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = script("zsh", place, capsys)
    (place / "bin" / "reactorl").write_text("#!/bin/sh\necho called: reactorl $*\n")

    said = output("zsh", "-f", "-c", ZSH, "zsh", str(file), begun)

    assert any(line.strip() == f"called: {completed}" for line in said), said


# -- what scripts are made of ---------------------------------------------------------


@pytest.mark.parametrize(
    ("metavar", "kind"),
    [
        ("FILE.lf", "program"),
        ("RUN|FILE", "file"),
        ("RUN", "run"),
        ("TARGET", "target"),
        ("DIR", "directory"),
        ("FILE", "file"),
        ("N", "value"),
        ("HOST:PORT", "value"),
    ],
)
def test_the_name_of_a_value_says_what_it_is(metavar: str, kind: str) -> None:
    assert completion.kind_of(metavar) == kind


def test_flags_of_train_are_those_that_are_parsed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("cyclopts")
    assert main(["completion", "--flags", "dqn"]) == 0
    offered = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    with pytest.raises(SystemExit):
        main(["train", "dqn", "--help"])
    shown = capsys.readouterr().out

    assert len(offered) > 20
    assert all(flag in shown for flag in offered)
    assert main(["completion", "--flags", "nothing"]) == 2


@pytest.mark.parametrize("args", [[], ["tcsh"], ["bash", "--flags", "dqn"]])
def test_one_shell_has_to_be_named(args: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["completion", *args])
    assert exit_.value.code == 2
