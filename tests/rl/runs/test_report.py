# SPDX-License-Identifier: Apache-2.0
"""The report of a run: what is in it, and that it opens in a browser by itself."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reactorl import ReactorlError, elaborate
from reactorl.cli.main import main
from reactorl.diagram import scene
from reactorl.rl import FlowRun, Iteration, RunDirectory
from reactorl.rl.checkpoint.fingerprint import weights_digest
from reactorl.rl.runs import revision
from reactorl.rl.runs.report import Outcome, report, write_report
from tests.dashboard.hostile import ALL, TEXTS, Evil, assert_harmless

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

SMALL = [
    "--num-envs=4", "--num-steps=8", "--total-timesteps=320", "--learning-starts=64",
    "--batch-size=8", "--train-frequency=8", "--hidden=8", "--eval-every=64",
    "--eval-episodes=2", "--checkpoint-every=128", "--final-episodes=3", "--workers=2",
]  # fmt: skip


def hostile_run(path: Path) -> tuple[RunDirectory, Outcome]:
    """Return a run all of whose texts are bad."""
    config = {
        "format": 1,
        "algorithm": TEXTS[0],
        "settings": {"env_id": ALL, "seed": 1, **{text: text for text in TEXTS}},
        "command": ["reactorl", "train", *TEXTS],
        "versions": {text: text for text in TEXTS},
        "revision": ALL,
        "began": 0,
    }
    (path / "config.json").write_text(json.dumps(config))
    rows = ["global_step,seconds,key,value"]
    for step in range(1, 30):
        rows.append(f"{step},{step / 10},charts/episodic_return,{step}")
        rows.append(f'{step},{step / 10},"losses/{TEXTS[1]}",nan')
        rows.append(f'{step},{step / 10},"losses/{TEXTS[2]}",{step}')
    (path / "metrics.csv").write_text("\n".join(rows))
    outcome = Outcome(
        title=ALL,
        phase="failed",
        scene=scene(elaborate(Evil)),
        steps=29,
        total=100,
        seconds=2.9,
        digest=TEXTS[1],
        returns=[1.0],
        resume=list(TEXTS),
        machine=[(text, text) for text in TEXTS],
    )
    return RunDirectory.open(path), outcome


def test_hostile_texts_are_escaped(browser_page: Page, tmp_path: Path) -> None:
    run, outcome = hostile_run(tmp_path)
    write_report(run, outcome)

    browser_page.goto((tmp_path / "report.html").as_uri())
    browser_page.evaluate("reactorlDiagram.ready")

    assert_harmless(browser_page)
    assert browser_page.locator("h1").first.text_content() == ALL
    assert browser_page.locator(".pill").text_content() == "failed"
    shown = browser_page.locator("main").text_content() or ""
    assert all(text in shown for text in TEXTS)
    assert browser_page.locator(".reactorl-title").count() == 1
    browser_page.emulate_media(media="print", color_scheme="dark")
    browser_page.locator(".reactorl-diagram[data-theme=light]").wait_for()
    assert browser_page.locator(".reactorl-canvas[viewBox]").count() == 1
    browser_page.emulate_media(media="screen")
    browser_page.locator(".reactorl-canvas:not([viewBox])").wait_for()
    # Wide and narrow, and two of the others: of one there are no numbers.
    assert browser_page.locator("path.line").count() == 4


def test_report_is_written_atomically(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, outcome = hostile_run(tmp_path)
    write_report(run, outcome)
    before = (tmp_path / "report.html").read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"report\.html"):
        write_report(run, replace(outcome, phase="ended"))
    assert (tmp_path / "report.html").read_bytes() == before


def test_a_run_without_metrics_has_a_report(tmp_path: Path) -> None:
    run, outcome = hostile_run(tmp_path)
    run.metrics.unlink()

    assert "no numbers" in report(run, replace(outcome, steps=0, seconds=0.0))


def test_report_fetches_nothing(tmp_path: Path) -> None:
    page = report(*hostile_run(tmp_path))

    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert links == ["data:,"]
    assert "default-src &#x27;none&#x27;" in page
    assert "connect-src" not in page


def test_training_writes_a_report_and_prints_its_path(
    browser_page: Page, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "dqn", *SMALL, f"--runs-dir={tmp_path}"]) == 0
    (run,) = tmp_path.iterdir()
    file = run / "report.html"
    assert str(file) in capfd.readouterr().out

    browser_page.goto(file.as_uri())
    browser_page.evaluate("reactorlDiagram.ready")
    text = " ".join((browser_page.locator("main").text_content() or "").split())
    assert browser_page.locator(".pill").text_content() == "done"
    assert "reactorl train dqn --num-envs=4" in text
    assert f"numpy{np.__version__}" in text
    assert "Best evaluation" in text
    titles = browser_page.locator(".chart h2").all_text_contents()
    assert titles[2:] == [
        "Steps per second", "td loss", "q values", "learning rate", "episodic length",
    ]  # fmt: skip
    drawn = browser_page.locator(".reactorl-title").all_text_contents()
    assert {"mainTrainingLoop", "replay", "learner"} <= set(drawn)


def test_report_exists_after_ctrl_c_and_is_updated_by_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = FlowRun.step

    def stepped(self: FlowRun) -> Iteration:
        if self.done + 1 == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self)

    with monkeypatch.context() as patch:
        patch.setattr(FlowRun, "step", stepped)
        assert main(["train", "dqn", *SMALL, f"--runs-dir={tmp_path / 'a'}"]) == 130
    (run,) = (tmp_path / "a").iterdir()
    stopped = (run / "report.html").read_text()
    assert 'data-phase="stopped"' in stopped
    assert "128<small>of 320</small>" in stopped
    assert f"reactorl train dqn --resume {run}" in stopped

    line = ["train", "dqn", "--resume", str(run), "--final-episodes=3", "--dashboard"]
    assert main(line) == 0
    assert main(["train", "dqn", *SMALL, f"--runs-dir={tmp_path / 'b'}"]) == 0
    (other,) = (tmp_path / "b").iterdir()
    done, straight = ((r / "report.html").read_text() for r in (run, other))
    assert 'data-phase="ended"' in done
    assert "--resume" not in done
    digests = [re.findall(r">([0-9a-f]{64})<", text) for text in (done, straight)]
    assert digests[0] == digests[1]
    assert digests[0] != re.findall(r">([0-9a-f]{64})<", stopped)
    shown = re.findall(r'<dl class="panel tiles">.*?Time', done)
    assert shown == re.findall(r'<dl class="panel tiles">.*?Time', straight)


def test_a_failed_training_has_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: FlowRun) -> None:
        raise ReactorlError(TEXTS[0])

    monkeypatch.setattr(FlowRun, "step", fail)
    assert main(["train", "dqn", *SMALL, f"--runs-dir={tmp_path}"]) == 1
    (run,) = tmp_path.iterdir()
    assert 'data-phase="failed"' in (run / "report.html").read_text()


def test_weights_digest_covers_all_bits() -> None:
    one = {"w": np.zeros(3, np.float32), "b": np.ones(2)}
    digest = weights_digest(one)

    assert digest == weights_digest({"b": np.ones(2), "w": np.zeros(3, np.float32)})
    for other in (
        {"w": -one["w"], "b": one["b"]},  # minus zero
        {"w": one["w"].astype(np.float64), "b": one["b"]},
        {"w": one["w"].reshape(3, 1), "b": one["b"]},
        {"w": one["w"], "c": one["b"]},
    ):
        assert weights_digest(other) != digest


def test_revision_is_empty_outside_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert revision.revision() == ""
    answers = {"rev-parse": "abc", "status": " M file"}
    monkeypatch.setattr(revision, "_git", lambda word, *_: answers[word])
    assert revision.revision() == "abc with changes"
    answers["status"] = ""
    assert revision.revision() == "abc"
