# SPDX-License-Identifier: Apache-2.0
"""``--dashboard``: the link is printed once, and results are bit-identical."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from reactorl.cli.main import main
from reactorl.dashboard import view
from reactorl.rl.checkpoint.file import read_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LF = """
target Python
main reactor {
  timer t(0, 1 ms)
  state count = 0
  reaction(t) {=
    self.count += 1
    print("count", self.count)
  =}
}
"""
SMALL = [
    "--num-envs=4", "--num-steps=8", "--total-timesteps=320", "--learning-starts=64",
    "--batch-size=8", "--train-frequency=8", "--hidden=8", "--eval-every=64",
    "--eval-episodes=2", "--checkpoint-every=128", "--final-episodes=3", "--workers=2",
]  # fmt: skip
LINK = r"reactorl: dashboard at http://127\.0\.0\.1:\d+/[\w-]{32}/\n"


def test_link_is_printed_once_and_output_is_unchanged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "count.lf"
    file.write_text(LF)
    threads = threading.active_count()
    line = ["run", str(file), "--fast", "--timeout", "20 ms", "-m", "1 week"]
    found = []
    for more in ([], ["--dashboard"]):
        trace = tmp_path / f"{len(more)}.trace"
        assert main([*line, "--trace", str(trace), *more]) == 0
        said = capfd.readouterr()
        found.append((said.out, trace.read_bytes()))
        assert re.fullmatch(LINK if more else "", said.err)

    assert found[0] == found[1]
    assert found[0][0].count("count") == 21
    assert threading.active_count() == threads


FEDERATED = """
target Python { fast: true, timeout: 20 ms }
reactor Source {
  output y
  timer t(0, 1 ms)
  reaction(t) -> y {= y.set(1) =}
}
reactor Sink {
  input x
  reaction(x) {= print("got", x.value) =}
}
federated reactor {
  source = new Source()
  sink = new Sink()
  source.y -> sink.x
}
"""


def test_federations_have_a_dashboard(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "two.lf"
    file.write_text(FEDERATED)
    shown: list[dict[str, object]] = []
    show = view.Board.show

    def keep(board: view.Board, **parts: object) -> None:
        shown.append(parts)
        show(board, **parts)  # type: ignore[arg-type]

    monkeypatch.setattr(view.Board, "show", keep)
    found = []
    for more in ([], ["--dashboard"]):
        trace = tmp_path / f"{len(more)}.trace"
        line = ["run", str(file), "--federated", "--trace", str(trace)]
        assert main([*line, *more]) == 0
        said = capfd.readouterr()
        found.append((said.out, trace.read_bytes()))
        assert re.fullmatch(LINK if more else "", said.err)

    assert found[0] == found[1]
    assert found[0][0].count("[sink] got 1") == 21
    work: Any = shown[-1]["work"]
    assert [row[:2] for row in work["federates"]] == [
        ["source", "20.000 ms"],
        ["sink", "20.000 ms"],
    ]
    assert [name for name, _ in work["workers"]] == ["source 0", "sink 0"]


def test_errors_are_unchanged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fails.lf"
    file.write_text(LF.replace("self.count += 1", "raise ValueError('no')"))
    errors = []
    for more in ([], ["--dashboard"]):
        assert main(["run", str(file), "--fast", *more]) == 1
        errors.append(re.sub(LINK, "", capfd.readouterr().err))

    assert errors[0] == errors[1]
    assert "ValueError: no" in errors[0]


def test_program_runs_if_the_page_cannot_be_served(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(view, "Server", refuse)
    file = tmp_path / "count.lf"
    file.write_text(LF)

    assert main(["run", str(file), "--fast", "--timeout", "1 ms", "--dashboard"]) == 0
    said = capfd.readouterr()
    assert said.out == "count 1\ncount 2\n"
    assert said.err == (
        "reactorl: note: serving the dashboard failed: permission denied\n"
    )


def test_weights_are_bit_identical(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    learned = []
    threads = threading.active_count()
    for name, more in (("plain", []), ("shown", ["--dashboard"])):
        runs = tmp_path / name
        assert main(["train", "dqn", *SMALL, f"--runs-dir={runs}", *more]) == 0
        said = capfd.readouterr()
        assert len(re.findall(LINK, said.err)) == len(more)
        (run,) = runs.iterdir()
        data = read_checkpoint(run / "checkpoint").data
        state = data["parts"]["main.learner"]["state"]
        digest = re.search(r"[0-9a-f]{64}", (run / "report.html").read_text())
        assert digest is not None
        learned.append(([array.tobytes() for array in state], digest[0]))

    assert learned[0] == learned[1]
    assert threading.active_count() == threads
