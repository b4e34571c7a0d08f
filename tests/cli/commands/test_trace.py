# SPDX-License-Identifier: Apache-2.0
"""``reactorl trace``: what it says, and what it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reactorl import trace
from reactorl.cli.main import main
from reactorl.cli.support.tables import Table, plain

if TYPE_CHECKING:
    Capture = pytest.CaptureFixture[str]

PROGRAM = """\
target Python
reactor Worker {
  input x
  output y
  reaction(x) -> y {= y.set(x.value + 1) =}
}
main reactor {
  timer t(0, 1 ms)
  w = new[3] Worker()
  reaction(t) -> w.x {=
    for k in w: k.x.set(1)
  =}
  reaction(w.y) {= pass =} deadline(0) {= pass =}
}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    Path("Work.lf").write_text(PROGRAM)
    return tmp_path


def ran(*options: str) -> None:
    assert main(["run", "Work.lf", "-f", "-o", "4 ms", "-w", "2", *options]) == 0


def said(capsys: Capture, *args: str) -> tuple[int, str, str]:
    status = main(["trace", *args])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_summary_has_everything(capsys: Capture) -> None:
    ran("--trace", "a", "--timing", "a")

    status, out, err = said(capsys, "a")

    assert (status, err) == (0, "")
    assert "5 tags, ended at (4000000, 0)" in out
    assert "25 reactions run, at most 5 at one tag; 30 ports set" in out
    titles = [line for line in out.splitlines()[1:] if line and line[0] != " "]
    assert titles == [
        "busiest reactions",
        "time per level",
        "workers",
        "critical path",
        "lag and deadlines",
    ]
    assert re.search(r"main\.w\[\*\]\.reaction_1, 3 of them +15 ", out)
    assert re.search(r"^  1 +3 +15 ", out, re.MULTILINE)  # level 1
    assert re.search(r"Any number of workers is at most [123]\.\d\d times", out)
    assert "no lag" in out
    assert re.search(r"main\.reaction_2 +5 +100\.0%", out)


def test_members_of_banks_can_be_told_apart(capsys: Capture) -> None:
    ran("--timing", "a")

    _, out, _ = said(capsys, "a", "--members", "--most", "4")

    assert len(re.findall(r"^  main\.w\[[012]\]\.reaction_1 +5 ", out, re.M)) >= 2
    assert "... and 1 more; '--most N' shows more." in out


def test_times_alone_are_enough(capsys: Capture) -> None:
    ran("--timing", "a")

    status, out, _ = said(capsys, "a")

    assert status == 0
    assert "what happened was not kept" in out
    assert not trace.load("a").kept


def test_lag_is_said_of_a_run_that_waits(capsys: Capture) -> None:
    assert main(["run", "Work.lf", "-o", "4 ms", "--timing", "a"]) == 0

    _, out, _ = said(capsys, "a")

    assert re.search(r"Tags began \S+ \S+ late on average, \S+ \S+ at most", out)


def test_without_times_it_says_what_it_can(capsys: Capture) -> None:
    ran("--trace", "a")

    status, out, _ = said(capsys, "a")

    assert status == 0
    assert re.search(r"main\.w\[\*\]\.reaction_1, 3 of them +15 +-$", out, re.M)
    assert re.search(r"main\.reaction_2 +5 +5$", out, re.M)
    assert "Run again with '--timing FILE'" in out


@pytest.mark.parametrize("option", ["--perfetto", "--html"])
def test_without_times_there_is_nothing_to_draw(capsys: Capture, option: str) -> None:
    ran("--trace", "a")

    status, out, err = said(capsys, "a", option, "out")

    assert (status, out) == (2, "")
    assert "there are no times in this file" in err
    assert "help: Run again with '--timing FILE'" in err
    assert not Path("out").exists()


def test_perfetto_gets_json(capsys: Capture) -> None:
    ran("--timing", "a")

    status, out, _ = said(capsys, "a", "--perfetto", "out.json")

    assert (status, out) == (0, "wrote out.json\n")
    events = json.loads(Path("out.json").read_text())["traceEvents"]
    names = [e["name"] for e in events if e.get("cat") == "reaction"]
    assert names.count("main.w[1].reaction_1") == 5
    missed = [e for e in events if e.get("cat") == "missed deadline"]
    assert len(missed) == 5
    assert list(Path().glob(".out*")) == []


def test_the_page_has_times_on_the_diagram(capsys: Capture) -> None:
    ran("--timing", "a")

    status, _, _ = said(capsys, "a", "--html", "out.html")

    assert status == 0
    page = Path("out.html").read_text()
    found = re.search(r'class="reactorl-overlay">(.*?)</script>', page)
    assert found is not None
    overlay = json.loads(found[1])
    assert overlay.keys() == {
        "main.reaction_1",
        "main.reaction_2",
        *(f"main.w[{k}].reaction_1" for k in range(3)),
    }
    assert max(mark["heat"] for mark in overlay.values()) == 1.0
    assert all(
        mark["label"].endswith(", 5\N{MULTIPLICATION SIGN}")
        for mark in overlay.values()
    )


def test_a_file_that_cannot_be_written_is_named(capsys: Capture) -> None:
    ran("--timing", "a")
    Path("taken").mkdir()

    for option in ("--perfetto", "--html"):
        status, _, err = said(capsys, "a", option, "no/x")
        assert (status, err) == (
            1,
            "reactorl: error: no/x: no such file or directory\n",
        )
        status, _, err = said(capsys, "a", option, "taken")
        assert (status, err) == (1, "reactorl: error: taken: is a directory\n")
    assert sorted(p.name for p in Path().iterdir()) == ["Work.lf", "a", "taken"]


def test_a_file_without_picture_needs_the_program(capsys: Capture) -> None:
    ran("--timing", "a")
    saved = trace.load("a")
    bare = trace.SavedTrace(
        saved.trace, saved.program, saved.seed, saved.options,
        kept=False, structure=saved.structure, timing=saved.timing,
    )  # fmt: skip
    trace.save("b", bare)
    Path("Other.lf").write_text("target Python\nmain reactor { timer t }\n")

    status, _, err = said(capsys, "b", "--html", "out.html")
    assert status == 2
    assert "help: Name the program: --program TARGET" in err
    status, _, err = said(capsys, "b", "--html", "out.html", "--program", "Other.lf")
    assert status == 2
    assert "Other.lf is not the program that ran" in err
    assert not Path("out.html").exists()
    assert said(capsys, "b", "--html", "out.html", "--program", "Work.lf")[0] == 0
    assert "main.w[0].reaction_1" in Path("out.html").read_text()


def test_a_terminal_gets_tables_from_rich(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    ran("--timing", "a")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")

    status, out, _ = said(capsys, "a")

    assert status == 0
    assert "\x1b[1mbusiest reactions" in out
    assert "main.w[*].reaction_1, 3 of them" in out  # no markup of Rich's


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    table = Table("a\x1b[2J", ("x", "y"), [("\x07b", "1")], ["c\r"])

    assert plain(table) == "a�[2J\n  x   y\n  �b  1\n  c�"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "nofile: no such file or directory"),
        ("hello\n", "this is not a trace file"),
        ("", "this is not a trace file"),
    ],
)
def test_what_is_no_trace_is_refused(
    capsys: Capture, content: str | None, what: str
) -> None:
    if content is not None:
        Path("nofile").write_text(content)

    status, out, err = said(capsys, "nofile")

    assert (status, out) == (2, "")
    assert what in err


def test_a_directory_without_trace_is_refused(capsys: Capture) -> None:
    Path("run").mkdir()

    status, _, err = said(capsys, "run")

    assert status == 2
    assert "there is no trace in this directory" in err
    assert "help: Train with --trace" in err


def test_of_a_run_the_newest_trace_is_shown(capsys: Capture) -> None:
    Path("run").mkdir()
    for first in (1, 9, 10):
        ran("--trace", f"run/rounds-from-{first}.trace.gz")

    _, out, _ = said(capsys, "run")

    assert out.startswith("run/rounds-from-10.trace.gz\n")


# -- runs that do not end well --


def test_the_trace_of_a_run_that_fails_is_written(capsys: Capture) -> None:
    Path("Fail.lf").write_text(
        "target Python\nreactor Count {\n  timer t(0, 1 ms)\n  output y\n"
        "  state n = 0\n  reaction(t) -> y {=\n    self.n += 1\n    y.set(self.n)\n"
        "    assert self.n < 4\n  =}\n}\nmain reactor { c = new Count() }\n"
    )

    status = main(["run", "Fail.lf", "-f", "--trace", "a", "--timing", "b"])

    assert status == 1
    assert "AssertionError" in capsys.readouterr().err
    saved = trace.load("a")
    assert [value for _, value in saved.trace.values("main.c.y")] == [1, 2, 3, 4]
    assert (times := trace.load("b").timing) is not None
    assert times.tags == 4


def test_the_trace_of_a_run_that_exits_is_written(capsys: Capture) -> None:
    Path("Exit.lf").write_text(
        "target Python\nmain reactor {\n  reaction(startup) {= exit(7) =}\n}\n"
    )

    assert main(["run", "Exit.lf", "--trace", "a"]) == 7
    assert len(trace.load("a").trace) == 1


def test_a_trace_that_cannot_be_written_does_not_hide_the_failure(
    capsys: Capture,
) -> None:
    Path("Fail.lf").write_text(
        'target Python {tracing: {trace-file-name: "no/where"}}\n'
        "main reactor {\n  reaction(startup) {= raise LookupError('why') =}\n}\n"
    )

    assert main(["run", "Fail.lf"]) == 1
    err = capsys.readouterr().err
    assert "the trace no/where.trace cannot be written" in err
    assert "LookupError: why" in err
