# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN401
"""The suite of results: what is measured, resumed and reported."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.results import command, report
from benchmarks.results.engines import ENGINES
from benchmarks.results.process import train
from benchmarks.results.referee import EVALUATION_SEED, Referee, played
from benchmarks.results.runs import Cell, Run, Store, cells
from benchmarks.results.tasks import TASKS, smoke
from reactorl.rl import PPO, Trainer, algorithm_names

if TYPE_CHECKING:
    from pathlib import Path

CARTPOLE, OURS = TASKS["cartpole"], ENGINES["ours-gil"]


def cell(task: Any = CARTPOLE, engine: Any = OURS, algorithm: str = "ppo") -> Cell:
    return Cell(task, engine, algorithm, {})


def test_versions_are_found_however_a_package_spells_its_name(tmp_path: Path) -> None:
    store = Store(tmp_path)
    facts = {"packages": {"stable_baselines3": "2.9.2"}, "python": "3.11"}
    run = run_of(1, (5_000, 10, 490), engine="sb3", facts=facts)
    store.add(cell(engine=ENGINES["sb3"]), run)

    assert "stable-baselines3 2.9.2" in report.write(store, tmp_path / "page.md")


def run_of(seed: int, *evaluations: tuple[int, float, float], **more: Any) -> Run:
    found = [
        {"steps": steps, "seconds": seconds, "cpu": seconds, "mean_return": mean}
        for steps, seconds, mean in evaluations
    ]
    options: dict[str, Any] = {"task": "cartpole", "engine": "ours-gil", **more}
    options.setdefault("algorithm", "ppo")
    return Run(seed=seed, evaluations=found, peak_memory=2**20, **options)


# -- what is measured -----------------------------------------------------------------


def test_every_task_is_trained_by_ours_and_settings_name_tasks() -> None:
    ids = {task.env_id for task in TASKS.values()}
    for engine in ENGINES.values():
        found = {c.task.env_id for c in cells([*TASKS.values()], [engine], None)}
        assert found <= ids
        assert not engine.ours or found == ids
    for task in TASKS.values():
        assert task.ours


def test_settings_are_complete_for_their_runners() -> None:
    for engine in ("sb3", "rlox", "rllib", "cleanrl", "purejaxrl"):
        for one in cells([*TASKS.values()], [ENGINES[engine]], None):
            steps = one.settings.get("n_timesteps", one.settings.get("total_timesteps"))
            assert steps >= 20_000, one.label


# -- the referee ----------------------------------------------------------------------


def referee(sent: list[Any], **task: Any) -> Referee:
    request = cell(replace(CARTPOLE, **task)).request(1)
    return Referee({**request, "began": 0.0}, sent.append)


def test_referee_ends_at_threshold_or_limit() -> None:
    sent: list[Any] = []
    judge = referee(sent, every=100, limit=1_000, threshold=10, seconds=1e12)

    assert not judge.due(99)
    assert judge.due(100)
    assert not judge.evaluate(130, lambda *_: [9, 10])
    assert not judge.due(199)
    assert judge.due(200)
    assert judge.evaluate(200, lambda *_: [10, 10])
    assert judge.evaluate(1_000, lambda *_: [0])
    assert [(e["steps"], e["mean_return"]) for e in sent] == [
        (130, 9.5),
        (200, 10),
        (1_000, 0),
    ]


def test_evaluations_do_not_count_as_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    sent: list[Any] = []
    judge = referee(sent, threshold=1e9)

    def play(_episodes: int, seed: int) -> list[float]:
        assert seed == EVALUATION_SEED
        now[0] += 50
        return [0.0]

    judge.evaluate(5_000, play)
    now[0] += 7
    judge.evaluate(10_000, play)

    assert [e["seconds"] for e in sent] == [100, 107]


def test_episodes_are_played_side_by_side_with_their_own_seeds() -> None:
    batches: list[int] = []

    def left(observations: Any) -> Any:
        batches.append(len(observations))
        return [0] * len(observations)

    together = played("CartPole-v1", left, 3, 5)
    alone = [played("CartPole-v1", left, 1, seed)[0] for seed in (5, 6, 7)]

    assert together == alone
    assert batches[0] == 3
    assert len(set(together)) > 1


# -- runs -----------------------------------------------------------------------------


def test_run_is_kept_until_its_settings_change_or_it_failed(tmp_path: Path) -> None:
    store, one = Store(tmp_path), cell()
    store.add(one, run_of(1, (5_000, 3.0, 480), key=one.key))
    store.add(one, run_of(2, key=one.key, failure="ValueError"))

    assert store.is_done(one, 1)
    assert not store.is_done(one, 2)  # is tried again
    assert not store.is_done(one, 3)
    changed = cell(replace(CARTPOLE, threshold=400))
    assert not store.is_done(changed, 1)
    assert store.is_done(cell(replace(CARTPOLE, seeds=9)), 1)
    other = replace(one, settings={"gamma": 0.9})
    assert not store.is_done(other, 1)
    (tmp_path / "runs" / one.file_name(1)).write_text("{")
    assert not store.is_done(one, 1)


def test_process_that_fails_is_reported_with_its_last_lines() -> None:
    request = cell().request(1) | {"runner": "nothing"}

    found = train(sys.executable, request)

    assert "No module named 'benchmarks.results.runners.nothing'" in found["failure"]
    assert found["evaluations"] == []


def test_smoke_measures_ours_and_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    engine = "ours-gil" if command.gil_is_on() else "ours-ft"
    line = ["cartpole", "--smoke", "--here", "--engines", engine]
    line += ["--algorithms", "ppo", "--out", str(tmp_path)]

    assert command.main(line) == 0

    (path,) = (tmp_path / "runs").iterdir()
    found = json.loads(path.read_text())
    assert found["evaluations"][-1]["steps"] == 2_048
    assert found["evaluations"][-1]["cpu"] > 0
    assert found["peak_memory"] > 2**20
    assert found["facts"]["packages"]["gymnasium"]
    before = path.stat().st_mtime_ns
    assert command.main(line) == 0  # nothing is left to measure
    assert path.stat().st_mtime_ns == before
    assert "ReactoRL" in capsys.readouterr().out


def test_unknown_task_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["chess"]) == 2
    assert "TASK must be one of cartpole" in capsys.readouterr().err


def test_smoke_tasks_are_short() -> None:
    assert all(smoke(t).limit <= 4_096 and not smoke(t).curve for t in TASKS.values())
    known = set(algorithm_names())
    assert {"ppo", "dqn"} <= known


# -- the report -----------------------------------------------------------------------


def test_report_has_medians_ranges_failures_and_what_is_missing(tmp_path: Path) -> None:
    store, one = Store(tmp_path), cell()
    for seed, seconds in enumerate((4.0, 6.0, 5.0), 1):
        store.add(one, run_of(seed, (5_000, 1, 20), (10_000, seconds, 500)))
    peer = cell(engine=ENGINES["sb3"])
    store.add(peer, run_of(1, (5_000, 10, 490), engine="sb3"))
    store.add(peer, run_of(2, (5_000, 12, 300), engine="sb3", failure="boom\nKilled"))

    store.note_missing({"rlox": "no wheel"})
    store.note_missing({"sbx on cartpole": "jax not installed"})

    text = report.write(store, tmp_path / "page.md")

    assert text == (tmp_path / "page.md").read_text()
    assert "| ReactoRL GIL | ppo | 5.0 (4.5 to 5.5) | 10,000 (10,000 to" in text
    assert "| SB3 | ppo | - | - | 1 of 2 | 395 | 1 |" in text
    assert "SB3 ppo, seed 2, failed: `Killed`" in text
    assert "Could not be installed: no wheel" in text
    assert "SBX: jax not installed.\n" in text
    assert "Not measured yet: ReactoRL 3.14t, rlox" in text
    assert "| CartPole-v1 | 5.0 (ReactoRL GIL ppo) | - | - |" in text


def test_curve_of_a_run_of_hours_is_kept_without_its_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one = cell(TASKS["pong"])
    store = Store(tmp_path / "docs" / "results", tmp_path / "build")
    training = store.run_directory(one, 1)
    task = PPO(total_timesteps=512, num_steps=32).task(
        "CartPole-v1", eval_every=256, eval_episodes=1
    )
    Trainer(task, training, progress=False, final_episodes=0).fit()
    page = tmp_path / "docs" / "results.md"

    store.keep_curves()
    text = report.write(store, page)

    (curve,) = store.curves()
    assert sorted(p.name for p in curve.iterdir()) == [
        "config.json",
        "curve.svg",
        "metrics.csv",
    ]
    kept = (curve / "metrics.csv").read_text().splitlines()
    assert kept[0] == "global_step,seconds,key,value"
    assert {line.split(",")[2] for line in kept[1:]} == {
        "charts/episodic_return",
        "eval/mean_return",
    }
    assert "512 environment steps (not complete yet), last evaluation" in text
    (picture,) = re.findall(r"!\[Learning curve of ALE/Pong-v5\]\((.*)\)", text)
    assert (page.parent / picture).is_file()

    # On another machine only the kept files exist.
    shutil.rmtree(tmp_path / "build")
    store.keep_curves()
    assert report.write(store, page) == text


def test_docs_cannot_be_written_from_a_smoke_test(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["--docs", "--smoke"]) == 2
    assert "--docs cannot be used with --smoke or --out" in capsys.readouterr().err
