# SPDX-License-Identifier: Apache-2.0
"""``reactorl check``: reports all errors of all files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.main import main
from tests.cli.terminal import in_pipe

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "target Python\n\nmain reactor {\n  reaction(startup) {= print() =}\n}\n"
BAD = (
    "target Python\nmain reactor {\n  reaction(nope) {= =}\n  reaction(nah) {= =}\n}\n"
)
WARNED = "target Python\nreactor R {\n  private preamble {= x = 1 =}\n}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, list[str]]:
    status = main(["check", *args])
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return status, err.splitlines()


def test_good_files_have_no_problems(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "A.lf").write_text(GOOD)
    (here / "B.lf").write_text(GOOD)

    assert check(capsys, "A.lf") == (0, ["1 file: no problems"])
    assert check(capsys, "A.lf", "B.lf", "A.lf") == (0, ["2 files: no problems"])


def test_all_errors_of_all_files_are_shown(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "A.lf").write_text(BAD)
    (here / "B.lf").write_text(GOOD)
    (here / "C.lf").write_text(BAD)

    status, lines = check(capsys, "A.lf", "B.lf", "C.lf")

    heads = [line.split(": error:")[0] for line in lines if ": error: " in line]
    assert status == 2
    assert heads == ["A.lf:3:12", "A.lf:4:12", "C.lf:3:12", "C.lf:4:12"]
    assert lines[-2:] == ["", "4 errors in 2 files"]


def test_each_diagnostic_is_followed_by_an_empty_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "A.lf").write_text(BAD)

    _, lines = check(capsys, "A.lf")

    starts = [n for n, line in enumerate(lines) if ": error: " in line]
    assert [lines[n - 1] for n in starts[1:]] == [""]


def test_warnings_do_not_fail(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "A.lf").write_text(WARNED)

    status, lines = check(capsys, "A.lf")

    assert status == 0
    assert "A.lf:3:3: warning: " in lines[0]
    assert lines[-1] == "1 warning in 1 file"


@pytest.mark.parametrize("name", ["missing.lf", "folder.lf", "empty.lf", "latin.lf"])
def test_unreadable_files_are_errors(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "folder.lf").mkdir()
    (here / "empty.lf").write_text("")
    (here / "latin.lf").write_bytes(b"target Python // \xe9\n")
    (here / "A.lf").write_text(BAD)

    status, lines = check(capsys, name, "A.lf")

    assert status == 2
    assert lines[0].startswith(f"{name}:1:")
    assert lines[-1] == "3 errors in 2 files"


def test_directory_is_refused_with_its_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "src").mkdir()
    (here / "src" / "A.lf").write_text(GOOD)

    status, lines = check(capsys, "src")

    assert status == 2
    assert "directory" in lines[0]
    assert "src/A.lf" in lines[1]


def test_errors_of_elaboration_are_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "A.lf").write_text("""\
target Python
reactor Echo {
  input x
  output y
  reaction(x) -> y {= y.set(1) =}
}
main reactor {
  e = new Echo()
  e.y -> e.x
}
""")

    status, lines = check(capsys, "A.lf")

    assert status == 2
    assert lines[0].startswith("A.lf:")
    assert lines[-1] == "1 error in 1 file"


def test_error_in_a_shared_import_is_shown_once(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "Lib.lf").write_text("target Python\nreactor R { reaction(no) {= =} }\n")
    using = 'target Python\nimport R from "Lib.lf"\nmain reactor { r = new R() }\n'
    (here / "A.lf").write_text(using)
    (here / "B.lf").write_text(using)

    status, lines = check(capsys, "A.lf", "B.lf", "Lib.lf")

    assert status == 2
    assert sum(": error: " in line for line in lines) == 1
    assert lines[-1] == "1 error in 1 file"


def test_check_executes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "A.lf").write_text(
        GOOD.replace("\n\n", "\npreamble {= open('written', 'w') =}\n", 1)
    )

    assert check(capsys, "A.lf")[0] == 0
    assert not (here / "written").exists()


def test_file_whose_name_is_no_text_is_an_error(here: Path) -> None:
    path = here / os.fsdecode(b"bad\xff.lf")
    try:
        path.write_text("target Python\nmain reactor {}\n")
    except OSError:
        pytest.skip("the file system has names in UTF-8 only")

    status, printed = in_pipe("check", os.fspath(path))

    assert status == 2, printed
    assert "the file name 'bad\\udcff.lf' must be UTF-8" in printed
    assert "1 error in 1 file" in printed
