# SPDX-License-Identifier: Apache-2.0
"""``reactorl trace``: the summary, and the files it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reactorl import trace
from reactorl.cli.main import main

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


def test_summary_has_all_tables(capsys: Capture) -> None:
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
    assert re.search(r"main\.w\[\*\]\.reaction_1 \(3 members\) +15 ", out)
    assert re.search(r"^  1 +3 +15 ", out, re.MULTILINE)  # level 1
    assert re.search(r"Upper bound of the speed-up by more workers: [123]\.\d\d", out)
    assert "no lag" in out
    assert re.search(r"main\.reaction_2 +5 +100\.0%", out)


def test_members_of_banks_have_rows_of_their_own(capsys: Capture) -> None:
    ran("--timing", "a")

    _, out, _ = said(capsys, "a", "--members", "--most", "4")

    assert len(re.findall(r"^  main\.w\[[012]\]\.reaction_1 +5 ", out, re.M)) >= 2
    assert "... and 1 more; '--most N' shows more." in out


def test_file_with_times_only(capsys: Capture) -> None:
    ran("--timing", "a")

    status, out, _ = said(capsys, "a")

    assert status == 0
    assert "execution times only, no events" in out
    assert not trace.load("a").kept


def test_lag_of_a_run_in_real_time(capsys: Capture) -> None:
    assert main(["run", "Work.lf", "-o", "4 ms", "--timing", "a"]) == 0

    _, out, _ = said(capsys, "a")

    assert re.search(r"Tags began \S+ \S+ late on average, \S+ \S+ at most", out)


def test_file_without_times(capsys: Capture) -> None:
    ran("--trace", "a")

    status, out, _ = said(capsys, "a")

    assert status == 0
    assert re.search(r"main\.w\[\*\]\.reaction_1 \(3 members\) +15 +-$", out, re.M)
    assert re.search(r"main\.reaction_2 +5 +5$", out, re.M)
    assert "Run again with '--timing FILE'" in out


@pytest.mark.parametrize("option", ["--perfetto", "--html"])
def test_times_are_required_for_export(capsys: Capture, option: str) -> None:
    ran("--trace", "a")

    status, out, err = said(capsys, "a", option, "out")

    assert (status, out) == (2, "")
    assert "the file contains no times" in err
    assert "help: Run again with '--timing FILE'" in err
    assert not Path("out").exists()


def test_export_to_perfetto(capsys: Capture) -> None:
    ran("--timing", "a")

    status, out, _ = said(capsys, "a", "--perfetto", "out.json")

    assert (status, out) == (0, "wrote out.json\n")
    events = json.loads(Path("out.json").read_text())["traceEvents"]
    names = [e["name"] for e in events if e.get("cat") == "reaction"]
    assert names.count("main.w[1].reaction_1") == 5
    missed = [e for e in events if e.get("cat") == "missed deadline"]
    assert len(missed) == 5
    assert list(Path().glob(".out*")) == []


def test_diagram_is_annotated_with_times(capsys: Capture) -> None:
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


def test_file_that_cannot_be_written_is_named(capsys: Capture) -> None:
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


def test_program_is_required_if_the_file_has_no_diagram(capsys: Capture) -> None:
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
    assert "help: Give the program: --program TARGET" in err
    status, _, err = said(capsys, "b", "--html", "out.html", "--program", "Other.lf")
    assert status == 2
    assert "Other.lf is not the program that ran" in err
    assert not Path("out.html").exists()
    assert said(capsys, "b", "--html", "out.html", "--program", "Work.lf")[0] == 0
    assert "main.w[0].reaction_1" in Path("out.html").read_text()


def test_tables_have_styles_on_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    ran("--timing", "a")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")

    status, out, _ = said(capsys, "a")

    assert status == 0
    assert "\x1b[1mbusiest reactions" in out
    assert "main.w[*].reaction_1 (3 members)" in out  # not read as markup


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "nofile: no such file or directory"),
        ("hello\n", "the file is not a trace"),
        ("", "the file is not a trace"),
    ],
)
def test_other_files_are_refused(
    capsys: Capture, content: str | None, what: str
) -> None:
    if content is not None:
        Path("nofile").write_text(content)

    status, out, err = said(capsys, "nofile")

    assert (status, out) == (2, "")
    assert what in err


def test_directory_without_trace_is_refused(capsys: Capture) -> None:
    Path("run").mkdir()

    status, _, err = said(capsys, "run")

    assert status == 2
    assert "the directory contains no trace" in err
    assert "help: Train with --trace" in err


def test_newest_trace_of_a_training_run_is_shown(capsys: Capture) -> None:
    Path("run").mkdir()
    for first in (1, 9, 10):
        ran("--trace", f"run/rounds-from-{first}.trace.gz")

    _, out, _ = said(capsys, "run")

    assert out.startswith("run/rounds-from-10.trace.gz\n")


# -- runs that fail --


def test_trace_is_written_when_the_run_fails(capsys: Capture) -> None:
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


def test_trace_is_written_when_the_run_exits(capsys: Capture) -> None:
    Path("Exit.lf").write_text(
        "target Python\nmain reactor {\n  reaction(startup) {= exit(7) =}\n}\n"
    )

    assert main(["run", "Exit.lf", "--trace", "a"]) == 7
    assert len(trace.load("a").trace) == 1


def test_unwritable_trace_does_not_hide_the_exception(
    capsys: Capture,
) -> None:
    Path("Fail.lf").write_text(
        'target Python {tracing: {trace-file-name: "no/where"}}\n'
        "main reactor {\n  reaction(startup) {= raise LookupError('why') =}\n}\n"
    )

    assert main(["run", "Fail.lf"]) == 1
    err = capsys.readouterr().err
    assert "writing the trace no/where.trace failed" in err
    assert "LookupError: why" in err
