# SPDX-License-Identifier: Apache-2.0
"""Trace points of bodies are written to a file beside the trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reactorl.cli.main import main

if TYPE_CHECKING:
    Capture = pytest.CaptureFixture[str]

NOTES = """\
target Python
reactor Notes {
  state hit = 0
  state size = 0
  timer t(0, 1 s)
  reaction(startup) {=
    self.hit = self.register_user_trace_event("hit")
    self.size = self.register_user_trace_event("size")
    print(self.hit, self.size)
  =}
  reaction(t) {=
    self.tracepoint_user_event(self.hit)
    self.tracepoint_user_value(self.size, 10 * self.bank_index)
  =}
}
main reactor { n = new[3] Notes() }
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Notes.lf").write_text(NOTES)


def points(name: str) -> list[dict[str, Any]]:
    lines = Path(f"{name}.events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_trace_points_are_ordered_by_tag_and_reactor(capsys: Capture) -> None:
    for n in "124":
        args = ["Notes.lf", "-f", "-o", "1 s", "-w", n, "--trace", f"t{n}"]
        assert main(["run", *args]) == 0

    expected = [
        {"time": time, "microstep": 0, "reactor": f"main.n[{n}]", **event}
        for time in (0, 1_000_000_000)
        for n in range(3)
        for event in ({"event": "hit"}, {"event": "size", "value": 10 * n})
    ]
    assert capsys.readouterr().out == "1 2\n" * 9
    assert [points(f"t{n}") for n in "124"] == [expected] * 3


def test_untraced_run_records_no_trace_points(here: None, capsys: Capture) -> None:
    assert main(["run", "Notes.lf", "-f", "-o", "1 s"]) == 0

    assert capsys.readouterr().out == "0 0\n" * 3
    assert [path.name for path in Path().iterdir()] == ["Notes.lf"]


def test_no_file_is_written_without_trace_points() -> None:
    Path("Plain.lf").write_text("target Python; main reactor { }")

    assert main(["run", "Plain.lf", "--trace", "t"]) == 0

    assert Path("t").exists()
    assert not Path("t.events.jsonl").exists()


def test_tracing_property_writes_trace_points() -> None:
    Path("Notes.lf").write_text(NOTES.replace("Python", "Python {tracing: true}", 1))

    assert main(["run", "Notes.lf", "-f", "-o", "0"]) == 0

    assert len(points("Notes.trace")) == 6


def test_unknown_handle_is_an_error(capsys: Capture) -> None:
    Path("Notes.lf").write_text(NOTES.replace("(self.hit)", "(7)"))

    assert main(["run", "Notes.lf", "-f", "--trace", "t"]) == 1

    assert "trace event 7 is not registered by main.n[0]" in capsys.readouterr().err
