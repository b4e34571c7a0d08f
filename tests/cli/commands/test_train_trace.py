# SPDX-License-Identifier: Apache-2.0
"""Traces and times of training runs, and where two runs diverge."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from reactorl import trace
from reactorl.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

TINY = [
    "--env-id=CliffWalking-v1",  # where every step gives something to learn from
    *("--num-envs=4", "--num-steps=8", "--total-timesteps=96"),
    *("--eval-every=0", "--final-episodes=0"),
]
FILE = "rounds-from-1.trace.gz"


def train(runs: Path, name: str, *flags: str) -> None:
    where = runs / name
    assert main(["train", "q-learning", *TINY, f"--runs-dir={where}", *flags]) == 0
    (run,) = where.iterdir()
    run.rename(runs / f"{name}.run")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with three runs; the third has another setting."""
    runs = tmp_path_factory.mktemp("runs")
    train(runs, "one", "--trace", "--timing", "--workers=1")
    train(runs, "same", "--trace", "--workers=2")
    train(runs, "other", "--trace", "--gamma=0.5")
    return runs


@pytest.fixture
def runs(trained: Path, tmp_path: Path) -> Path:
    """Return a copy of that directory."""
    return shutil.copytree(trained, tmp_path / "runs")


def diff(runs: Path, a: str, b: str) -> int:
    return main(["diff", str(runs / f"{a}.run"), str(runs / f"{b}.run")])


def test_runs_are_compared_by_their_traces(runs: Path, capsys: Capture) -> None:
    assert diff(runs, "one", "same") == 0
    assert capsys.readouterr().out == (
        "the runs are identical: metrics and checkpoints, and traces\n"
    )

    assert diff(runs, "one", "other") == 1
    said = capsys.readouterr().out
    where = r"the runs diverge at tag \(\d000000, 0\), in main\.learner\.learn: "
    assert re.match(where + r"A set main\.learner\.\w+ to .*, B to ", said)


def test_times_are_recorded_on_request(runs: Path, capsys: Capture) -> None:
    assert main(["trace", str(runs / "one.run")]) == 0
    assert "main.learner.learn" in capsys.readouterr().out
    assert trace.load(runs / "one.run" / FILE).timing is not None
    assert trace.load(runs / "same.run" / FILE).timing is None


def test_times_are_shown_on_the_diagram(runs: Path) -> None:
    page = runs / "page.html"

    assert main(["trace", str(runs / "one.run"), "--html", str(page)]) == 0

    assert '"main.rollout[0].collect"' in page.read_text()


def test_without_traces_metrics_and_checkpoints_are_compared(
    runs: Path, capsys: Capture
) -> None:
    for path in runs.glob("*/*.trace.gz"):
        path.unlink()

    assert diff(runs, "one", "same") == 0
    capsys.readouterr()
    assert diff(runs, "one", "other") == 1
    said = capsys.readouterr().out
    assert "A has gamma 0.99, B has 0.5." in said
    assert "Train both with --trace" in said
    # Without its numbers a training is known by what it has learned.
    for path in runs.glob("*/metrics.csv"):
        path.unlink()
    assert diff(runs, "one", "other") == 1
    assert "the checkpoints differ: parts.main." in capsys.readouterr().out


def test_a_resumed_run_has_a_trace_of_its_own(runs: Path) -> None:
    run = runs / "one.run"

    flags = ["--resume", str(run), "--trace", "--final-episodes=0"]
    assert main(["train", "q-learning", *flags]) == 0

    assert sorted(path.name for path in run.glob("*.trace.gz")) == [
        FILE,
        "rounds-from-4.trace.gz",
    ]
