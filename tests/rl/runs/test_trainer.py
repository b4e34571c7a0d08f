# SPDX-License-Identifier: Apache-2.0
"""Trainer: runs from Python, callbacks, stop and resume."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import pytest

from reactorl.rl import (
    Callback,
    CheckpointError,
    EarlyStopping,
    FlowError,
    RunError,
    Trainer,
    read_checkpoint,
)
from reactorl.rl.checkpoint.fingerprint import weights_digest
from reactorl.rl.runs.config import settings_of
from reactorl.rl.runs.metrics import read_metrics
from tests.rl.contract.tasks import DQN_TASK, IPPO_TASK, PPO_TASK, Q_TASK
from tests.rl.trained import bits, lasting, tuned

if TYPE_CHECKING:
    from pathlib import Path

QUIET: Any = {"progress": False, "final_episodes": 2, "checkpoint_every": 96}
TASK = replace(Q_TASK, eval_every=96)


class Recorder(Callback):
    """Records all calls; stops after some iterations."""

    def __init__(self, stop_after: int = 0) -> None:
        self.calls: list[Any] = []
        self.stop_after = stop_after

    def on_start(self, session: Any) -> None:
        self.calls.append(("start", session.iteration))

    def on_iteration(self, session: Any, iteration: Any) -> None:
        self.calls.append(("iteration", iteration.number, session.step))
        if iteration.number == self.stop_after:
            session.write_metric("charts/mine", 7.0)
            session.stop("enough")

    def on_evaluation(self, session: Any, evaluation: Any) -> None:
        self.calls.append(("evaluation", evaluation.iteration))

    def on_checkpoint(self, session: Any, path: Path) -> None:
        self.calls.append(("checkpoint", path.name, session.iteration))

    def on_end(self, session: Any) -> None:
        self.calls.append(("end", session.iteration))


def values(run: Path) -> list[Any]:
    """Return all metrics but speeds."""
    found = read_metrics(run / "metrics.csv")
    return [(step, key, v) for step, _, key, v in found if key != "charts/SPS"]


def test_fit_trains_as_run_does_and_leaves_a_run_directory(tmp_path: Path) -> None:
    result = Trainer(TASK, tmp_path / "run", workers=2, **QUIET).fit()

    assert bits(result.weights) == bits(TASK.run(workers=1))
    assert result.digest == weights_digest(result.weights)
    assert (result.iterations, result.steps, result.total_steps) == (8, 384, 384)
    assert (result.stopped, result.signal) == ("", None)
    assert len(result.final_returns) == 2
    assert result.final_return == sum(result.final_returns) / 2
    names = {file.name for file in result.directory.iterdir()}
    assert {"checkpoint", "metrics.csv", "report.html", "curve.png"} <= names
    config = json.loads((result.directory / "config.json").read_text())
    assert config["algorithm"] == "q-learning"
    assert config["settings"] == settings_of(TASK)
    assert "done" in result.summary()


def test_callbacks_are_called_in_order(tmp_path: Path) -> None:
    one, other = Recorder(), Recorder()

    Trainer(TASK, tmp_path / "run", callbacks=[one, other], **QUIET).fit()

    assert one.calls == other.calls
    assert one.calls[0] == ("start", 0)
    assert one.calls[-1] == ("end", 8)
    iterations = [call for call in one.calls if call[0] == "iteration"]
    assert iterations == [("iteration", k, 48 * k) for k in range(1, 9)]
    checkpoints = [call for call in one.calls if call[0] == "checkpoint"]
    assert checkpoints == [("checkpoint", "checkpoint", k) for k in (2, 4, 6, 8)]
    assert any(call[0] == "evaluation" for call in one.calls)


@pytest.mark.parametrize(
    "task", [TASK, tuned(DQN_TASK, lag=2), IPPO_TASK], ids=["q", "dqn", "ippo"]
)
def test_a_run_stopped_by_a_callback_resumes_to_the_same_bits(
    task: Any, tmp_path: Path
) -> None:
    whole = Trainer(task, tmp_path / "whole", **QUIET).fit()
    stopped = Trainer(
        task, tmp_path / "parts", callbacks=[Recorder(stop_after=3)], **QUIET
    ).fit()
    assert (stopped.iterations, stopped.stopped) == (3, "enough")
    assert stopped.digest != whole.digest
    assert read_checkpoint(tmp_path / "parts" / "checkpoint").data["round"] == 3
    assert (stopped.steps, "charts/mine", 7.0) in values(tmp_path / "parts")
    assert "--resume" in stopped.summary()

    again = Recorder()
    resumed = Trainer(
        task, tmp_path / "parts", resume=True, callbacks=[again], **QUIET
    ).fit()

    assert again.calls[0] == ("start", 3)
    assert resumed.digest == whole.digest
    assert resumed.final_returns == whole.final_returns
    mine = {"charts/mine", "eval/final_return"}
    assert [v for v in values(tmp_path / "parts") if v[1] not in mine] == [
        v for v in values(tmp_path / "whole") if v[1] not in mine
    ]


def test_early_stopping_stops_at_the_threshold(tmp_path: Path) -> None:
    task = lasting(PPO_TASK, 40)

    result = Trainer(
        task, tmp_path / "run", callbacks=[EarlyStopping(1.0)], **QUIET
    ).fit()

    assert 1 <= result.iterations < 40
    assert result.stopped.startswith("early stopping: mean return ")
    assert result.final_return is not None


def test_from_directory_resumes_with_the_saved_configuration(tmp_path: Path) -> None:
    stop = Recorder(stop_after=2)
    Trainer(TASK, tmp_path / "run", callbacks=[stop], **QUIET).fit()

    trainer = Trainer.from_directory(tmp_path / "run", **QUIET)

    assert trainer.task == TASK
    assert bits(trainer.fit().weights) == bits(TASK.run())


def test_directories_and_tasks_that_do_not_fit_raise(tmp_path: Path) -> None:
    stop = Recorder(stop_after=1)
    path = tmp_path / "run"
    Trainer(TASK, path, callbacks=[stop], **QUIET).fit()
    before = {file.name: file.read_bytes() for file in path.iterdir()}

    with pytest.raises(RunError, match=r"has a run already. Resume it \(resume=True\)"):
        Trainer(TASK, path, **QUIET).fit()
    with pytest.raises(RunError, match="a run of q-learning, not of dqn"):
        Trainer(DQN_TASK, path, resume=True, **QUIET).fit()
    with pytest.raises(CheckpointError, match=r"another task: algorithm.gamma is 0.5"):
        Trainer(tuned(TASK, gamma=0.5), path, resume=True, **QUIET).fit()
    with pytest.raises(RunError, match="there is no such directory"):
        Trainer.from_directory(tmp_path / "nowhere")
    with pytest.raises(FlowError, match="directory must be given to resume"):
        Trainer(TASK, resume=True)
    with pytest.raises(FlowError, match="workers must be from 1 to 1024, got 0"):
        Trainer(TASK, workers=0)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_new_directory_is_named_after_environment_algorithm_and_seed(
    tmp_path: Path,
) -> None:
    result = Trainer(lasting(TASK, 1), runs_dir=tmp_path, **QUIET).fit()

    assert result.directory.parent == tmp_path
    assert result.directory.name.startswith("FrozenLake-v1__q-learning__1__")


def test_an_error_in_a_callback_ends_the_training(tmp_path: Path) -> None:
    class Broken(Callback):
        def on_iteration(self, session: Any, iteration: Any) -> None:
            raise LookupError

    with pytest.raises(LookupError):
        Trainer(TASK, tmp_path / "run", callbacks=[Broken()], **QUIET).fit()


def test_a_task_that_flags_cannot_express_resumes_from_python_only(
    tmp_path: Path,
) -> None:
    import gymnasium as gym

    def make() -> Any:
        return gym.make("FrozenLake-v1")

    task = replace(TASK, env=make)
    path = tmp_path / "run"
    Trainer(task, path, callbacks=[Recorder(stop_after=1)], **QUIET).fit()

    result = Trainer(task, path, resume=True, **QUIET).fit()

    assert bits(result.weights) == bits(TASK.run())
    assert (
        "make" in json.loads((path / "config.json").read_text())["settings"]["env_id"]
    )


class Elsewhere(gym.Wrapper[Any, Any, Any, Any]):
    """Changes the working directory of its process when it is made and in each step."""

    def __init__(self, env: gym.Env[Any, Any], place: str) -> None:
        super().__init__(env)
        self.place = place
        os.chdir(place)

    def step(self, action: Any) -> Any:
        os.chdir(self.place)
        return super().step(action)


def test_an_environment_may_change_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    task = replace(TASK, wrappers=(partial(Elsewhere, place=str(elsewhere)),))

    result = Trainer(task, trace=True, **QUIET).fit()

    assert list(elsewhere.iterdir()) == []
    (run,) = (here / "runs").iterdir()
    assert result.directory == run
    assert {"checkpoint", "report.html", "metrics.csv", "curve.png"} <= {
        file.name for file in run.iterdir()
    }
    shown = f"runs/{run.name}"
    assert f" {shown}/checkpoint\n" in result.summary()
    os.chdir(here)
    assert Trainer(task, shown, resume=True, **QUIET).fit().digest == result.digest
