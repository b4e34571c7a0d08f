# SPDX-License-Identifier: Apache-2.0
"""Tracebacks, debuggers, profilers and coverage show lines of the ``.lf`` file."""

from __future__ import annotations

import bdb
import cProfile
import os
import pstats
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reactorl.cli.main import main

if TYPE_CHECKING:
    from types import FrameType

    Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def failure(capsys: Capture, text: str, *args: str) -> list[str]:
    """Run a program that fails; return its stderr."""
    Path("Main.lf").write_text(f"target Python\n{text}")
    assert main(["run", "Main.lf", *args]) == 1
    return capsys.readouterr().err.splitlines()


# Each has one line that fails, which a comment marks; after it, what is underlined.
PLACES = {
    "reaction": (
        """\
main reactor {
  reaction(startup) {=
    x = 0
    y = 1 / x  # here
  =}
}
""",
        "1 / x",
    ),
    "reaction in one line": (
        "main reactor { reaction(startup) {= x = 0; y = 1 / x; z = 2 =} } // here\n",
        "1 / x",
    ),
    "method": (
        """\
main reactor {
  method half(x) {=
    return x / 0  # here
  =}
  reaction(startup) {= self.half(3) =}
}
""",
        "x / 0",
    ),
    "deadline handler": (
        """\
preamble {= import time =}
main reactor {
  reaction(startup) {= time.sleep(0.02) =}
  reaction(startup) {= =} deadline(1 ms) {=
    x = [][1]  # here
  =}
}
""",
        "[][1]",
    ),
    "preamble of a file": (
        """\
preamble {=
  import sys

  value = missing + 1  # here
=}
main reactor { }
""",
        "missing",
    ),
    "function of a preamble": (
        """\
preamble {=
  def f(x):
      if x:
          return x.nothing  # here
=}
main reactor { reaction(startup) {= f(1) =} }
""",
        "x.nothing",
    ),
    "preamble of a class": (
        """\
main reactor {
  preamble {=
    value = {}["key"]  # here
  =}
}
""",
        '{}["key"]',
    ),
    "state": ("main reactor {\n  state s = {= 1 / 0 =} // here\n}\n", "1 / 0"),
    "default of a parameter": (
        "reactor R(p = {= 1 / 0 =}) { } // here\nmain reactor { r = new R() }\n",
        "1 / 0",
    ),
    "argument": (
        """\
reactor R(p = 0) { }
main reactor {
  r = new[2] R(p = {= [1][bank_index] =}) // here
}
""",
        "[1][bank_index]",
    ),
    "statement of several lines": (
        """\
main reactor {
  reaction(startup) {=
    total = (1 +
             int(
               "x"
             ) +
             2)
  =}
}
""".replace("             int(\n", "             int(  # here\n"),
        "",
    ),
    "after other letters": (
        """\
main reactor { /* größer */ reaction(startup) {= s = "é€"; t = 1 / 0 =} } // here
""",
        "1 / 0",
    ),
    "after other letters on lines before": (
        """\
@label("größer")
main reactor {
  reaction(startup) {=
    s = '''é
    €'''; t = 1 / 0  # here
  =}
}
""",
        "1 / 0",
    ),
    "further left than the mark": (
        """\
main reactor { reaction(startup) {= if True:
 x = 0
 y = 1 / x  # here
=} }
""",
        "1 / x",
    ),
    "f-string": (
        """\
main reactor {
  reaction(startup) {=
    text = f"{1 / 0}"  # here
  =}
}
""",
        "",
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_traceback_shows_the_source(place: str, workers: str, capsys: Capture) -> None:
    text, underlined = PLACES[place]
    source = f"target Python\n{text}".splitlines()
    number = next(n for n, line in enumerate(source, 1) if "here" in line)

    lines = failure(capsys, text, "-w", workers)

    assert lines[0] == "Traceback (most recent call last):"
    frames = [n for n, line in enumerate(lines) if line.startswith("  File ")]
    last = frames[-1]
    assert lines[last].startswith(f'  File "Main.lf", line {number}, in ')
    assert lines[last + 1].strip() == source[number - 1].strip()
    if underlined:
        at = lines[last + 1].index(underlined)
        marks = lines[last + 2]
        assert {*marks.strip()} <= {"^", "~"}
        assert (len(marks) - len(marks.lstrip()), len(marks.rstrip())) == (
            at,
            at + len(underlined),
        )


def test_traceback_contains_no_frame_of_reactorl(capsys: Capture) -> None:
    text = "main reactor { method f() {= 1 / 0 =} reaction(startup) {= self.f() =} }"

    frames = [line for line in failure(capsys, text) if line.startswith("  File ")]

    assert [frame.split(", ")[0] for frame in frames] == ['  File "Main.lf"'] * 2


def test_traceback_contains_the_cause(capsys: Capture) -> None:
    lines = failure(
        capsys,
        """\
main reactor {
  reaction(startup) {=
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError("outer") from error
  =}
}
""",
    )

    assert '  File "Main.lf", line 5, in reaction_1' in lines
    assert '  File "Main.lf", line 7, in reaction_1' in lines
    assert lines[-1].startswith("Main.lf:3: reaction main.reaction_1 failed at")


def test_traceback_shows_source_after_a_change_of_directory(capsys: Capture) -> None:
    text = "main reactor {\n  reaction(startup) {= os.chdir('/'); 1 / 0 =}\n}\n"

    assert "    reaction(startup) {= os.chdir('/'); 1 / 0 =}" in failure(capsys, text)


def test_traceback_shows_the_path_of_an_imported_file(capsys: Capture) -> None:
    Path("lib").mkdir()
    Path("lib/Bad.lf").write_text(
        "target Python\nreactor Bad {\n  reaction(startup) {= 1 / 0 =}\n}\n"
    )

    lines = failure(
        capsys, 'import Bad from "lib/Bad.lf"\nmain reactor { b = new Bad() }\n'
    )

    assert any(
        line.startswith('  File "lib/Bad.lf", line 3, in reaction_1') for line in lines
    )


# -- debuggers --

STOPPED = """\
target Python
main reactor {
  state count = 41
  timer t(0, 1 s)
  reaction(t) {=
    self.count += 1
    breakpoint()
    after = self.count
  =}
}
"""


def debugged(*args: str, commands: str, code: str = STOPPED) -> str:
    """Run with pdb; return its output."""
    Path("Stops.lf").write_text(code)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONBREAKPOINT"}
    done = subprocess.run(
        [sys.executable, *args],
        input=commands,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env=environment,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("workers", ["1", "2"])
def test_breakpoint_call_stops_in_the_source(here: Path, workers: str) -> None:
    output = debugged(
        *["-m", "reactorl", "run", "-f", "-o", "0", "-w", workers, "Stops.lf"],
        commands="where\np self.count, 'is here'\nlist 5, 8\nc\n",
    )

    stops = [line for line in output.splitlines() if line.lstrip().startswith("> ")]
    # Since 3.13 breakpoint() stops at its own line, before that at the next one.
    line = 7 if sys.version_info >= (3, 13) else 8
    assert stops[0] == f"> {here / 'Stops.lf'}({line})reaction_1()"
    assert "(42, 'is here')" in output
    assert "  5  \t  reaction(t) {=" in output
    assert f"  {line}  ->\t" in output


def test_quitting_the_debugger_ends_the_run() -> None:
    output = debugged("-m", "reactorl", "run", "Stops.lf", commands="q\ny\n")

    assert "(Pdb) " in output
    assert "Traceback" not in output


def test_line_breakpoint_stops_in_the_source(here: Path) -> None:
    Path("Stops.lf").write_text(STOPPED.replace("breakpoint()", "before = 7"))
    stops: list[tuple[str, int, int]] = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame: FrameType) -> None:
            if frame.f_code.co_filename == "Stops.lf":
                place = self.canonic("Stops.lf"), frame.f_lineno
                stops.append((*place, frame.f_locals["before"]))
            self.set_continue()

    debugger = Debugger()
    assert debugger.set_break("Stops.lf", 8) is None  # otherwise an error message

    status = debugger.runcall(main, ["run", "-f", "-o", "1 s", "-w", "1", "Stops.lf"])

    assert status == 0
    assert stops == [(str(here / "Stops.lf"), 8, 7)] * 2


# -- profilers and coverage --

LINES = """\
target Python
preamble {=
  def helper(x):
      return x + 1
=}
main reactor {
  state n = {= helper(0) =}
  method twice(x) {=
    if x < 0:
        return None
    return 2 * x
  =}
  reaction(startup) {=
    for i in range(3):
        self.n = self.twice(i)
    if self.n > 100:
        print("never")
  =}
}
"""


def test_settrace_reports_executed_lines() -> None:
    Path("Lines.lf").write_text(LINES)
    seen: set[int] = set()

    def trace(frame: FrameType, event: str, _arg: Any) -> Any:  # noqa: ANN401
        if frame.f_code.co_filename != "Lines.lf":
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert main(["run", "Lines.lf", "-w", "1"]) == 0
    finally:
        sys.settrace(before)

    assert {3, 4, 7, 9, 11, 14, 15, 16} <= seen
    assert not {1, 5, 6, 10, 12, 17, 18, 19} & seen


def test_profiler_counts_calls_by_file_and_line() -> None:
    Path("Lines.lf").write_text(LINES)
    profile = cProfile.Profile()

    assert profile.runcall(main, ["run", "Lines.lf", "-w", "1"]) == 0

    stats: dict[tuple[str, int, str], tuple[int, ...]]
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    counts = {key: numbers[0] for key, numbers in stats.items()}
    assert counts["Lines.lf", 3, "helper"] == 1
    assert counts["Lines.lf", 8, "twice"] == 3
    assert counts["Lines.lf", 13, "reaction_1"] == 1


REACTORL = ["-m", "reactorl", "run", "Lines.lf"]


def test_coverage_reports_executed_lines(here: Path) -> None:
    coverage = pytest.importorskip("coverage")
    Path("Lines.lf").write_text(LINES)
    subprocess.run(
        [sys.executable, "-m", "coverage", "run", "--include=*.lf", *REACTORL],
        check=True,
        capture_output=True,
    )

    data = coverage.CoverageData()
    data.read()

    ran = {*data.lines(str(here / "Lines.lf"))}
    assert {3, 4, 7, 9, 11, 14, 15, 16} <= ran
    assert not {10, 17} & ran
