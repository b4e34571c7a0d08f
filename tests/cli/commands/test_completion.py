# SPDX-License-Identifier: Apache-2.0
"""Shell completion: through argcomplete's protocol, and in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.commands import completion
from reactorl.cli.main import COMMANDS, main, make_parser
from reactorl.cli.support.completion import COMPLETERS

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("argcomplete")


def needs(shell: str) -> pytest.MarkDecorator:
    missing = shutil.which(shell) is None
    return pytest.mark.skipif(missing, reason=f"{shell} is not installed")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a directory with programs and runs, and reactorl as a command."""
    for name in ("hello.lf", "my file.lf", "notes.txt", "robot.py", ".hidden.lf"):
        (tmp_path / name).touch()
    for name in ("src", "runs/CartPole__dqn", "runs/Pendulum__ppo", "bin"):
        (tmp_path / name).mkdir(parents=True)
    program = tmp_path / "bin" / "reactorl"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reactorl "$@"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "bin"))  # without the user's settings
    return tmp_path


def offered(place: Path, line: str) -> list[str]:
    """Return the completions of a line, asked for as argcomplete's shell code does."""
    answer = place / "answer"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "reactorl"],
        capture_output=True,
        check=False,
        env=environment,
        text=True,
        timeout=200,
    )
    assert (done.returncode, done.stdout) == (0, "")
    return sorted(answer.read_text().splitlines())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", sorted(COMMANDS)),
        ("--v", ["--version"]),
        ("--debug fm", ["fmt"]),
        ("run ", ["bin/", "hello.lf", "my\\ file.lf", "runs/", "src/"]),
        ("run he", ["hello.lf"]),
        ("run --timeo", ["--timeout"]),
        ("run -l de", ["debug"]),
        ("run --logging e", ["error"]),
        ("run --logging ", ["debug", "error", "info", "log", "warn"]),
        ("run --seed ", []),
        ("run r", ["runs/"]),
        ("graph r", ["robot.py", "runs/"]),
        ("graph h", ["hello.lf"]),
        ("trace n", ["notes.txt"]),
        ("run --trace n", ["notes.txt"]),
        ("run --fast hel", ["hello.lf"]),
        ("check hello.lf m", ["my\\ file.lf"]),
        ("eval ", ["runs/CartPole__dqn/", "runs/Pendulum__ppo/"]),
        ("plot runs/a runs/P", ["runs/Pendulum__ppo/"]),
        ("runs --runs-dir s", ["src/"]),
        ("completion z", ["zsh"]),
        ("nonsense ", []),
    ],
)
def test_completions_fit_the_position(
    line: str, expected: list[str], place: Path
) -> None:
    assert offered(place, f"reactorl {line}") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", ["dqn", "impala", "ippo", "ppo", "q-learning", "sac", "td3"]),
        ("q", ["q-learning"]),
        ("dqn --env-i", ["--env-id"]),
        ("dqn --track --no-an", ["--no-anneal-lr"]),
        ("ppo --clip-c", ["--clip-coef"]),
        ("dqn --clip-c", []),
        ("ppo --resume runs/C", ["runs/CartPole__dqn/"]),
        ("ppo --resume ", ["runs/CartPole__dqn/", "runs/Pendulum__ppo/"]),
        ("dqn --seed ", []),
        ("nonsense --s", []),
    ],
)
def test_completions_of_train_depend_on_the_algorithm(
    line: str, expected: list[str], place: Path
) -> None:
    pytest.importorskip("cyclopts")
    pytest.importorskip("jax")
    assert offered(place, f"reactorl train {line}") == expected


@pytest.mark.parametrize("command", COMPLETERS)
def test_completers_belong_to_arguments_that_exist(command: str) -> None:
    if command == "train":
        pytest.importorskip("jax")
        from reactorl.cli.commands.train import flags_of

        known = {f.name for one in flags_of("dqn").defaults for f in fields(one)}
    else:
        known = {a.dest for a in make_parser(command)[1][command]._actions}
    assert COMPLETERS[command].keys() <= known


# -- in shells ------------------------------------------------------------------------


def script(shell: str, place: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", shell]) == 0
    file = place / f"bin/completion.{shell}"
    file.write_text(capsys.readouterr().out)
    return file


def output(*command: str) -> list[str]:
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, timeout=200
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@needs("bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("reactorl doc", ["doctor "]),
        ("reactorl run hel", ["hello.lf "]),
        ("reactorl eval runs/C", ["runs/CartPole__dqn/"]),
        ("reactorl run --seed ", []),
    ],
)
def test_bash_completes(
    line: str, expected: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        'source "$1"; COMP_LINE="$2"; COMP_POINT=${#2}; COMP_TYPE=9; '
        "function=$(complete -p reactorl | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); "
        '$function reactorl; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    file = script("bash", place, capsys)

    found = output("bash", "--norc", "-c", code, "bash", str(file), line)

    assert [word for word in found if word] == expected


@needs("fish")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("reactorl fm", ["fmt"]),
        ("reactorl run hel", ["hello.lf"]),
        ("reactorl train d", ["dqn"]),
    ],
)
def test_fish_completes(
    line: str, expected: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = script("fish", place, capsys)

    code = f"source {file}; complete -C '{line}'"
    found = output("fish", "--no-config", "-c", code)

    assert sorted(offer.partition("\t")[0] for offer in found) == expected


ZSH = """\
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -U compinit && compinit -u -D -d $HOME/dump; source $1"
zpty -w shell "zstyle ':completion:*' list-colors ''; PS1=; stty columns 200"
zpty -w shell "echo rea''dy"
zpty -r shell said "*ready*"
zpty -w -n shell "$2"$'\\t'
zpty -w -n shell $'\\x01echo called: \\n'
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
        ("reactorl train q", "reactorl train q-learning"),
    ],
)
def test_zsh_completes(
    begun: str, completed: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = script("zsh", place, capsys)

    said = output("zsh", "-f", "-c", ZSH, "zsh", str(file), begun)

    assert any(line.strip() == f"called: {completed}" for line in said), said


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_scripts_are_for_the_shell(
    shell: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = script(shell, place, capsys)

    assert "reactorl" in file.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert output(shell, "-n", str(file)) == []


def test_completion_requires_argcomplete(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(completion, "find_spec", lambda _name: None)

    assert main(["completion", "bash"]) == 2
    assert "help: Install it: pip install 'reactorl[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize("args", [[], ["tcsh"]])
def test_a_known_shell_must_be_given(args: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["completion", *args])
    assert exit_.value.code == 2
