# SPDX-License-Identifier: Apache-2.0
"""``reactorl fmt``: formats files in place, completely or not at all."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path

import pytest

from reactorl.cli.main import main
from reactorl.lf.source import MAX_BYTES

UGLY = "target Python\nreactor R{input a}\n"
NEAT = "target Python\n\nreactor R {\n  input a\n}\n"
WRONG = "target Python\nreactor R { inptu a b c }\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("A.lf")
    path.write_text(UGLY)
    return path


def names(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.iterdir())


def test_files_are_formatted_in_place(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fmt", str(file)]) == 0

    assert file.read_text() == NEAT
    assert names(Path()) == ["A.lf"]
    assert capsys.readouterr() == ("", "formatted A.lf\n")


def test_formatted_files_are_not_rewritten(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(NEAT)
    os.utime(file, ns=(1, 1))

    assert main(["fmt", str(file)]) == 0

    assert file.stat().st_mtime_ns == 1
    assert capsys.readouterr() == ("", "")


def test_check_lists_files_and_changes_nothing(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("B.lf").write_text(NEAT)

    assert main(["fmt", "--check", "A.lf", "B.lf"]) == 1

    assert file.read_text() == UGLY
    assert capsys.readouterr() == ("", "would format A.lf\n")
    assert main(["fmt", "--check", "B.lf"]) == 0


def test_diff_shows_lines_and_changes_nothing(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fmt", "--diff", "A.lf"]) == 0

    shown = capsys.readouterr().out
    assert shown == (
        "--- A.lf\n+++ A.lf\n@@ -1,2 +1,5 @@\n target Python\n-reactor R{input a}\n"
        "+\n+reactor R {\n+  input a\n+}\n"
    )
    assert file.read_text() == UGLY
    assert main(["fmt", "--diff", "--check", "A.lf"]) == 1


def test_diff_marks_a_missing_newline_at_the_end(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(NEAT.rstrip())

    main(["fmt", "--diff", "A.lf"])

    assert "-}\n\\ No newline at end of file\n+}\n" in capsys.readouterr().out


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_stdin_is_formatted_to_stdout(
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = io.TextIOWrapper(io.BytesIO(UGLY.encode()))
    monkeypatch.setattr(sys, "stdin", given)

    status = main(["fmt", *options, "-"])

    expected = (1, "") if options else (0, NEAT)
    assert (status, capsys.readouterr().out) == expected


class Endless(io.RawIOBase):
    """A device without an end, such as ``/dev/zero``."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        buffer[:] = b"/" * len(buffer)
        return len(buffer)


def test_stdin_without_an_end_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = io.TextIOWrapper(io.BufferedReader(Endless()))
    monkeypatch.setattr(sys, "stdin", given)

    assert main(["fmt", "-"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert f"<stdin>:1:1: error: the program must be at most {MAX_BYTES} bytes" in err


@pytest.mark.parametrize("command", ["check", "fmt", "run", "graph"])
@pytest.mark.parametrize("path", ["pipe.lf", "zero.lf"])
def test_pipes_and_devices_are_errors_of_every_command(
    command: str,
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.lf")
    Path("zero.lf").symlink_to("/dev/zero")

    assert main([command, path]) != 0

    err = capsys.readouterr().err
    assert f"{path}:1:1: error: the path is not a regular file" in err
    assert "copy the program to a file" in err


@pytest.mark.parametrize("data", [WRONG.encode(), b"target \xff Python"])
def test_errors_in_stdin_give_no_output(
    data: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    assert main(["fmt", "-"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("<stdin>:")


def test_directories_are_searched_in_order(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("src/z/C.lf", "src/b.lf", "src/a/B.lf", "src/.git/D.lf", "src/x.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(UGLY)

    assert main(["fmt", "--check", "src", str(file), "src/b.lf"]) == 1

    said = capsys.readouterr().err.split()
    assert said[2::3] == ["src/b.lf", "src/a/B.lf", "src/z/C.lf", "A.lf"]


def test_directory_without_programs_is_an_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("src").mkdir()

    assert main(["fmt", "src"]) == 2

    assert "contains no .lf file" in capsys.readouterr().err


def test_files_with_errors_are_kept_and_others_formatted(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("W.lf").write_text(WRONG)

    assert main(["fmt", "W.lf", "A.lf", "missing.lf"]) == 2

    err = capsys.readouterr().err
    assert Path("W.lf").read_text() == WRONG
    assert file.read_text() == NEAT
    assert "W.lf:2:19: error: " in err
    assert "missing.lf:1:1: error: " in err


def test_modes_and_symbolic_links_are_kept(file: Path) -> None:
    file.chmod(0o754)
    Path("link.lf").symlink_to(file)

    assert main(["fmt", "link.lf"]) == 0

    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert Path("link.lf").is_symlink()
    assert file.read_text() == NEAT


def test_hard_links_are_kept(file: Path) -> None:
    file.chmod(0o754)
    Path("B.lf").hardlink_to(file)

    assert main(["fmt", "A.lf"]) == 0

    assert file.samefile("B.lf")
    assert Path("B.lf").read_text() == NEAT
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert names(Path()) == ["A.lf", "B.lf"]


def test_failed_write_to_a_hard_link_restores_the_old_text(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("B.lf").hardlink_to(file)
    opened = Path.open

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def full(path: Path, mode: str = "r", *rest: object, **named: object) -> object:
        made = opened(path, mode, *rest, **named)  # type: ignore[call-overload]
        if mode == "r+b":
            made.truncate = fail
        return made

    monkeypatch.setattr(Path, "open", full)

    assert main(["fmt", "A.lf"]) == 2

    assert Path("B.lf").read_text() == UGLY
    assert "no space left on device" in capsys.readouterr().err


def test_line_ends_and_byte_order_marks_are_kept(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())

    assert main(["fmt", "A.lf"]) == 0

    assert file.read_bytes() == b"\xef\xbb\xbf" + NEAT.replace("\n", "\r\n").encode()
    assert main(["fmt", "--check", "A.lf"]) == 0


def test_failed_replacement_keeps_the_old_file_and_no_temporary_one(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_old: object, _new: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)

    assert main(["fmt", "A.lf"]) == 2

    assert file.read_text() == UGLY
    assert names(Path()) == ["A.lf"]
    assert "no space left on device" in capsys.readouterr().err


def test_read_only_files_are_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # root may write everything, so the answer of the system is replaced.
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)

    assert main(["fmt", "A.lf"]) == 2

    assert file.read_text() == UGLY
    assert "permission denied" in capsys.readouterr().err


def test_result_with_another_meaning_is_not_written(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "reactorl.lf.format.format.lay_out", lambda _pieces: "target Python\n"
    )

    assert main(["fmt", "A.lf"]) == 2

    assert file.read_text() == UGLY
    assert "would change the program" in capsys.readouterr().err
