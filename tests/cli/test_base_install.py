# SPDX-License-Identifier: Apache-2.0
"""The base installation, without any third-party package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import reactorl
import reactorl._core

SOURCE = str(Path(reactorl.__file__).parents[1])
# An editable installation has the extension elsewhere than the source.
EXTENSION = str(Path(reactorl._core.__file__).parent)
PROGRAM = """\
target Python {timeout: 2 ms, fast: true}

main reactor {
  timer t(0, 1 ms)
  reaction(t) {= print("tick") =}
}
"""


def run(line: str, here: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a Python that finds no installed packages."""
    code = (
        f"import sys; sys.path.insert(0, {SOURCE!r})\n"
        f"import reactorl; reactorl.__path__.append({EXTENSION!r})\n"
        "from reactorl.cli.main import entry\n"
        f"sys.argv = ['reactorl', *{line.split()!r}]\n"
        "entry()"
    )
    return subprocess.run(
        [sys.executable, "-S", "-I", "-c", code],
        capture_output=True,
        check=False,
        cwd=here,
        env={**os.environ, "FORCE_COLOR": "1"},
        text=True,
        timeout=200,
    )


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "a.lf").write_text(PROGRAM)
    (tmp_path / "wrong.lf").write_text(PROGRAM.replace("reaction(t)", "reaction(tt)"))
    return tmp_path


def test_commands_work_without_third_party_packages(here: Path) -> None:
    for line, expected in (
        ("run a.lf --trace a.trace --timing a.trace", "tick\ntick\ntick\n"),
        ("check a.lf", ""),
        ("fmt --check a.lf", ""),
        ("graph a.lf", "flowchart LR\n"),
        ("trace a.trace", "busiest reactions"),
        ("diff a.trace a.trace", "the runs are identical"),
        ("--help", "usage: reactorl"),
        ("train --help", "algorithms:"),
    ):
        done = run(line, here)

        assert done.returncode == 0, (line, done.stderr)
        assert expected in done.stdout
        assert "\x1b" not in done.stdout + done.stderr


def test_doctor_lists_the_missing_packages(here: Path) -> None:
    done = run("doctor --quick", here)

    assert "not installed, for cli: argcomplete, rich" in done.stdout


@pytest.mark.parametrize(
    ("line", "status", "error"),
    [
        ("check wrong.lf", 2, "wrong.lf:5:12: error: "),
        ("rnu", 2, "reactorl: error: unknown command 'rnu'\n  help: Did you mean"),
        ("completion bash", 2, "help: Install it: pip install 'reactorl[cli]'"),
        ("train dqn", 2, "help: Install them: pip install 'reactorl[train]'"),
        ("runs", 2, "help: Install them: pip install 'reactorl[train]'"),
    ],
)
def test_errors_are_plain_text(line: str, status: int, error: str, here: Path) -> None:
    done = run(line, here)

    assert done.returncode == status
    assert error in done.stderr
    assert "\x1b" not in done.stderr
