# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed, broken, or limited to ASCII."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.main import main
from reactorl.cli.support.streams import stdout_is_broken
from reactorl.trace import diff, load

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
target Python {timeout: 4 ms, fast: true}
main reactor {
  timer t(0, 1 ms)
  reaction(t) {= print("hello", file=sys.stdout) =}
}
"""
WIDE = PROGRAM.replace("  timer", "      timer")
LOOP = """\
target Python
reactor Pass {
  input x
  output y
  reaction(x) -> y {= y.set(x.value) =}
}
main reactor {
  p = new Pass()
  p.y -> p.x
}
"""
COMMANDS = [
    ("--help", 0),
    ("--version", 0),
    ("run hello.lf", 0),
    ("check nowhere.lf", 2),
    ("fmt --diff hello.lf", 0),
    ("graph hello.lf", 0),
    ("trace hello.times", 0),
    ("diff hello.trace hello.trace", 0),
    ("nonsense", 2),
    ("runs", 2),
    ("train --help", 0),
    ("train no-such-algorithm", 2),
]
SAYING = ["check nowhere.lf", "nonsense", "runs", "run nowhere.lf", "--nonsense"]
"""Commands that fail with status 2 and a message on stderr."""
NOTING = [
    ("check hello.lf", 0),
    ("fmt --check wide.lf", 1),
    ("fmt narrow.lf", 0),
    ("graph -o loop.html loop.lf", 0),
    ("run --logging info hello.lf", 0),
    ("run quits.lf", 1),
]
"""Commands that print a note on stderr, with their exit status."""
PRINTING = [
    "--version",
    "run hello.lf",
    "run hello.lf --workers 2",
    "fmt --diff hello.lf",
    "graph hello.lf",
    "trace hello.times",
    "diff hello.trace hello.trace",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a directory with a program, its trace and its times."""
    path = tmp_path_factory.mktemp("streams")
    (path / "hello.lf").write_text(PROGRAM)
    (path / "wide.lf").write_text(WIDE)
    (path / "loop.lf").write_text(LOOP)
    quits = PROGRAM.replace("print(", "sys.exit(").replace(", file=sys.stdout", "")
    (path / "quits.lf").write_text(
        quits.replace("main", "preamble {= import sys =}\nmain")
    )
    for option, name in (("--trace", "hello.trace"), ("--timing", "hello.times")):
        file = str(path / "hello.lf")
        assert main(["run", file, option, str(path / name)]) == 0
    return path


@pytest.fixture(autouse=True)
def here(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    (files / "narrow.lf").write_text(WIDE)  # which a test formats


def reactorl(
    line: str, redirect: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command line with a redirection of the shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -m reactorl {line} {redirect}', sys.executable],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, **environment},
        timeout=200,
    )


@pytest.mark.parametrize(("line", "status"), COMMANDS)
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_change_the_status(
    line: str, status: int, closed: str
) -> None:
    done = reactorl(line, closed)

    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_file_does_not_take_the_place_of_a_closed_stdout() -> None:
    done = reactorl("run hello.lf --trace new.trace", ">&-")

    assert done.returncode == 0
    assert diff(load("new.trace").trace, load("hello.trace").trace) is None


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", PRINTING)
def test_broken_pipe_ends_a_command_quietly(line: str, unbuffered: str) -> None:
    assert into_broken_pipe(line, unbuffered) == (1, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_broken_pipe_ends_the_help_quietly(unbuffered: str) -> None:
    assert into_broken_pipe("run --help", unbuffered) == (1, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", SAYING)
def test_broken_pipe_as_stderr_does_not_change_the_status(
    line: str, unbuffered: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "reactorl", *line.split()],
        stdout=writer,
        stderr=writer,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        timeout=200,
    )
    os.close(writer)

    assert done.returncode == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("line", "status"), NOTING)
def test_notes_for_a_broken_pipe_do_not_change_the_status(
    line: str, status: int, unbuffered: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "reactorl", *line.split()],
        stdout=subprocess.PIPE,
        stderr=writer,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        timeout=200,
    )
    os.close(writer)

    assert done.returncode == status


@pytest.mark.parametrize(("line", "status"), NOTING)
def test_notes_are_printed(line: str, status: int) -> None:
    done = reactorl(line)

    assert done.returncode == status
    assert done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is missing")  # noqa: PTH110
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", SAYING)
def test_full_device_as_stderr_does_not_change_the_status(
    line: str, unbuffered: str
) -> None:
    done = reactorl(line, "2>/dev/full", PYTHONUNBUFFERED=unbuffered)

    assert done.returncode == 2


def into_broken_pipe(line: str, unbuffered: str) -> tuple[int, bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "reactorl", *line.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        timeout=200,
    )
    os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is missing")  # noqa: PTH110
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "line",
    [
        "--version",
        "--help",
        "run --help",
        "graph hello.lf",
        "trace hello.times",
        "train dqn --help",
    ],
)
def test_full_device_is_one_error(line: str, unbuffered: str) -> None:
    done = reactorl(line, ">/dev/full", PYTHONUNBUFFERED=unbuffered)

    assert done.returncode == 1
    assert done.stderr == "reactorl: error: no space left on device\n"


def test_broken_pipe_of_a_program_itself_is_reported(files: Path) -> None:
    (files / "pipe.lf").write_text(
        "target Python\npreamble {= import os =}\nmain reactor {\n"
        "  reaction(startup) {=\n    r, w = os.pipe()\n    os.close(r)\n"
        "    os.write(w, b'x')\n  =}\n}\n"
    )

    done = reactorl("run pipe.lf")

    assert done.returncode == 1
    assert "BrokenPipeError" in done.stderr
    assert "reaction main.reaction_1 failed" in done.stderr


@pytest.mark.parametrize("line", ["trace hello.times", "graph hello.lf", "--help"])
def test_output_in_ascii(line: str) -> None:
    done = reactorl(line, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")

    assert done.returncode == 0
    assert done.stdout.isascii()
    assert done.stderr == ""


@pytest.mark.parametrize("line", ["run --help", "trace hello.times"])
@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"FORCE_COLOR": "1"}])
def test_narrow_terminals(line: str, environment: dict[str, str]) -> None:
    done = reactorl(line, COLUMNS="5", **environment)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("how", [" = None", ".close()"])
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_program_may_close_its_streams(files: Path, name: str, how: str) -> None:
    (files / "silent.lf").write_text(
        "target Python\npreamble {= import sys =}\nmain reactor {\n"
        f"  reaction(startup) {{= sys.{name}{how} =}}\n}}\n"
    )

    done = reactorl("run silent.lf")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_error_of_a_program_that_has_removed_its_streams_is_shown(files: Path) -> None:
    (files / "removed.lf").write_text(
        "target Python\npreamble {= import sys =}\nmain reactor {\n"
        "  reaction(startup) {=\n    sys.stdout = sys.stderr = None\n"
        '    raise ValueError("the error itself")\n  =}\n}\n'
    )

    done = reactorl("run removed.lf")

    assert done.returncode == 1
    assert "ValueError: the error itself" in done.stderr
    assert "AttributeError" not in done.stderr


def test_stdout_that_is_read_is_not_broken() -> None:
    code = (
        "from reactorl.cli.support.streams import stdout_is_broken; "
        "print(stdout_is_broken())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert done.stdout == "False\n"


def test_stdout_without_a_descriptor_is_not_broken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not stdout_is_broken()


def test_stdout_counts_as_whole_where_there_is_no_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(select, "poll")

    assert not stdout_is_broken()
