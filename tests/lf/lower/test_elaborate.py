# SPDX-License-Identifier: Apache-2.0
"""Errors of elaboration are reported as LF diagnostics with their positions.

``golden/<name>.lf`` is a program, ``<name>.txt`` the complete report of ``run``.
``check`` executes no code, so it does not report errors that depend on code.
After an intended change, review the difference and accept it with
``REACTORL_ACCEPT=1 pytest tests/lf/lower/test_elaborate.py``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reactorl.cli.main import main

GOLDEN = Path(__file__).parent / "golden"
PROGRAMS = sorted(path.name for path in GOLDEN.glob("*.lf"))


@pytest.fixture(autouse=True)
def _in_golden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)


@pytest.mark.parametrize("name", PROGRAMS)
def test_run_prints_the_golden_text(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["run", "--fast", name])
    out, err = capsys.readouterr()
    golden = Path(name).with_suffix(".txt")

    if os.environ.get("REACTORL_ACCEPT"):
        golden.write_text(err)

    assert out == ""
    assert err == golden.read_text()
    assert status == (2 if ": error: " in err else 0)
    assert err.startswith(f"{name}:")


@pytest.mark.parametrize("name", PROGRAMS)
def test_check_prints_the_same_unless_it_depends_on_code(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["check", name])
    *lines, summary = capsys.readouterr().err.splitlines()

    if "FromCode" in name:
        assert (status, lines, summary) == (0, [], "1 file: no problems")
    else:
        expected = Path(name).with_suffix(".txt").read_text().splitlines()
        assert lines == expected
        errors = sum(": error: " in line for line in expected)
        kind, count = ("error", errors) if errors else ("warning", 1)
        assert summary == f"{count} {kind}{'s' * (count > 1)} in 1 file"


def test_every_golden_text_has_a_program() -> None:
    texts = sorted(path.stem for path in GOLDEN.glob("*.txt"))

    assert texts == [Path(name).stem for name in PROGRAMS]


def test_loop_through_an_import_names_both_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Echo.lf").write_text("""\
target Python
reactor Echo { input x; output y; reaction(x) -> y {= =} }
""")
    Path("Main.lf").write_text("""\
target Python
import Echo from "Echo.lf"
reactor Wrapped { input a; output b; e = new Echo(); a -> e.x; e.y -> b }
main reactor {
  w = new Wrapped()
  w.b -> w.a
}
""")

    assert main(["check", "Main.lf"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Echo.lf:2:35: error: reactions wait for each other")
    assert "Delay one of the connections" in err


@pytest.mark.parametrize(
    "code",
    [
        "preamble {{= {} =}}\nmain reactor {{ }}",
        "main reactor {{ preamble {{= {} =}} }}",
        "main reactor {{ state s = {{= {} =}} }}",
        "main reactor(p = {{= {} =}}) {{ }}",
        "reactor R(p = 0) {{ }} main reactor {{ r = new R(p={{= {} =}}) }}",
        "reactor R {{ }} main reactor(n={{= {} =}}) {{ r = new[n] R() }}",
        "reactor R(p = {{= {} =}}) {{ timer t(0, p) }}",
        "main reactor {{ reaction(startup) {{= {} =}} }}",
    ],
)
def test_check_executes_nothing(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = code.format("open('written', 'w')")
    Path("Writes.lf").write_text(f"target Python\n{body}\n")

    main(["check", "Writes.lf"])

    assert not Path("written").exists()
