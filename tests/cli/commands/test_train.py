# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN401
"""``reactorl train``, ``eval``, ``runs`` and ``plot``: small trainings, whole paths."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.cli.main import main
from reactorl.cli.support import errors
from reactorl.rl import (
    DQN,
    Episode,
    Evaluated,
    FlowRun,
    Iteration,
    PlayProgress,
    RunDirectory,
    RunError,
    read_checkpoint,
)
from reactorl.rl.runs import progress, session
from reactorl.rl.runs.metrics import read_metrics
from reactorl.rl.runs.plot import read_curve

if TYPE_CHECKING:
    from pathlib import Path

SMALL = [
    "--num-envs=4",
    "--num-steps=8",
    "--total-timesteps=640",
    "--learning-starts=64",
    "--batch-size=8",
    "--train-frequency=8",
    "--hidden=8",
    "--eval-every=64",
    "--eval-episodes=2",
    "--checkpoint-every=128",
    "--final-episodes=3",
    "--workers=2",
]


def train(runs: Path, *flags: str) -> int:
    return main(["train", "dqn", *SMALL, f"--runs-dir={runs}", *flags])


def only(runs: Path) -> Path:
    (found,) = runs.iterdir()
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was trained to its end."""
    runs = tmp_path_factory.mktemp("trained")
    assert train(runs) == 0
    return only(runs)


def rows(run: Path) -> list[tuple[int, str, float]]:
    """All numbers of a run but how fast it was."""
    found = read_metrics(run / "metrics.csv")
    return [(step, key, v) for step, _, key, v in found if key != "charts/SPS"]


def learned(run: Path) -> list[bytes]:
    data = read_checkpoint(run / "checkpoint").data
    assert data["round"] == 20
    return [array.tobytes() for array in data["parts"]["main.learner"]["state"]]


# -- a whole training -----------------------------------------------------------------


def test_run_directory_has_the_configuration(run: Path) -> None:
    config = json.loads((run / "config.json").read_text())

    assert run.name.startswith("CartPole-v1__dqn__1__")
    assert run.name.endswith(f"__{config['began']}")
    assert config["algorithm"] == "dqn"
    assert config["settings"]["num_envs"] == 4
    assert config["settings"]["hidden"] == [8]
    assert config["command"][:3] == ["reactorl", "train", "dqn"]
    assert "--num-envs=4" in config["command"]
    assert config["versions"]["numpy"] == np.__version__


def test_metrics_have_the_keys_of_cleanrl(run: Path) -> None:
    with (run / "metrics.csv").open() as file:
        assert next(csv.reader(file)) == ["global_step", "seconds", "key", "value"]
    found = rows(run)
    keys = {key for _, key, _ in found}

    assert keys >= {
        "charts/episodic_return",
        "charts/episodic_length",
        "charts/learning_rate",
        "losses/td_loss",
        "losses/q_values",
        "eval/mean_return",
        "eval/final_return",
    }
    assert [step for step, _, _ in found] == sorted(step for step, _, _ in found)
    assert {step for step, key, _ in found if key == "losses/td_loss"} == set(
        range(64, 641, 32)
    )
    rates = [value for _, key, value in found if key == "charts/learning_rate"]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(0.0023 / 20)
    returns = [v for _, key, v in found if key == "charts/episodic_return"]
    assert returns == [v for _, key, v in found if key == "charts/episodic_length"]


def test_tensorboard_gets_the_same_values(run: Path) -> None:
    from tensorboardX.event_file_writer import EventsWriter  # noqa: F401
    from tensorboardX.proto.event_pb2 import Event

    (file,) = run.glob("events.out.tfevents.*")
    content, found = file.read_bytes(), []
    while content:
        size = int.from_bytes(content[:8], "little")
        event = Event.FromString(content[12 : 12 + size])
        found += [
            (event.step, v.tag, v.simple_value)
            for v in event.summary.value
            if v.tag != "charts/SPS"
        ]
        content = content[12 + size + 4 :]

    assert found == [(s, k, float(np.float32(v))) for s, k, v in rows(run)]


def test_run_directory_has_curves_and_the_dataflow(run: Path) -> None:
    assert (run / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (run / "curve.svg").read_text()
    assert "rollout" in (run / "dataflow.md").read_text()
    curve = read_curve("x", run / "metrics.csv")
    assert len(curve.returns) > 3
    assert curve.steps[-1] <= 640
    assert np.all(np.diff(curve.steps) > 0)  # a line, not steps up and down
    assert len(curve.evaluated) >= 1
    assert not list(run.glob(".*"))


def test_summary_names_files_and_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, "--total-timesteps=64") == 0

    out, err = capsys.readouterr()
    path = only(tmp_path)
    assert out.startswith("DQN on CartPole-v1: done\n")
    for expected in (
        "64 of 64",
        "mean of 3 episodes",
        f"{path / 'curve.png'}",
        f"{path / 'checkpoint'}",
        f"tensorboard --logdir {tmp_path}",
        f"reactorl eval {path}",
    ):
        assert expected in out
    assert err.splitlines()[-1].startswith("steps 64 of 64")


def test_help_explains_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["train", "dqn", "--help"])

    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    for flag in (
        "--env-id", "--total-timesteps", "--num-envs", "--seed", "--workers",
        "--learning-rate", "--buffer-size", "--gamma", "--target-network-frequency",
        "--batch-size", "--start-e", "--end-e", "--exploration-fraction",
        "--learning-starts", "--train-frequency", "--track", "--resume",
        "--checkpoint-every", "--runs-dir",
    ):  # fmt: skip
        assert flag in shown
    assert "Number of parallel environments." in shown


# -- stopping and going on ------------------------------------------------------------


def stop_after(rounds: int, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let a signal arrive in the middle of a round."""
    step = FlowRun.step

    def stepped(self: FlowRun) -> Any:
        if self.done + 1 == rounds:
            os.kill(os.getpid(), number)
        return step(self)

    monkeypatch.setattr(FlowRun, "step", stepped)


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_ctrl_c_writes_a_checkpoint_and_resume_ends_with_the_same_bits(
    number: int,
    status: int,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGINT)  # ignored in the background
    with monkeypatch.context() as patch:
        stop_after(7, patch, number)
        assert train(tmp_path) == status
    path = only(tmp_path)
    said = capsys.readouterr().out
    assert "DQN on CartPole-v1: stopped" in said
    assert f"reactorl train dqn --resume {path}" in said
    assert read_checkpoint(path / "checkpoint").data["round"] == 7
    with (path / "metrics.csv").open("a") as file:  # as if it was killed later
        file.write("800,1.0,charts/episodic_return,9.0\n832,1.0,char")

    assert main(["train", "dqn", "--resume", str(path), "--final-episodes=3"]) == 0

    assert learned(path) == learned(run)
    assert rows(path) == rows(run)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_the_last_iteration_leaves_out_the_final_evaluation(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stop_after(20, monkeypatch, signal.SIGINT)

    assert train(tmp_path) == 130

    said = capsys.readouterr().out
    assert "DQN on CartPole-v1: done" in said
    assert "final return" not in said
    assert learned(only(tmp_path)) == learned(run)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_that_a_finalizer_swallows_at_the_start_stops_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgotten:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(100):  # the handler runs between two of these
                pass

    monkeypatch.setattr(
        FlowRun, "program", property(lambda _self: Forgotten() and None)
    )

    assert train(tmp_path) == 130
    assert not (only(tmp_path) / "checkpoint").exists()


def test_a_second_ctrl_c_raises_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with session._stop_signals() as asked:
        os.kill(os.getpid(), signal.SIGINT)
        assert asked == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_sighup_stays_ignored_with_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with session._stop_signals() as asked:
            os.kill(os.getpid(), signal.SIGHUP)
            assert asked == []
    finally:
        signal.signal(signal.SIGHUP, before)


IN_A_TERMINAL = """
import os, pty, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.executable, [sys.executable, "-m", "reactorl", *sys.argv[1:]])
screen = b""
while b"steps/s" not in screen:
    screen += os.read(terminal, 65536)
os.close(terminal)  # the kernel sends SIGHUP, and writing fails from now on
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_closing_the_terminal_writes_a_checkpoint_and_a_report(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    # Long enough not to end by itself before it is stopped; if this test is killed,
    # the training ends after a minute or two.
    flags = [f"--runs-dir={runs}", "--total-timesteps=10000000"]

    done = subprocess.run(
        [sys.executable, "-c", IN_A_TERMINAL, "train", "q-learning", *flags],
        capture_output=True,
        check=False,
        env={**os.environ, "TERM": "xterm"},
        text=True,
    )

    assert (done.stdout, done.stderr) == ("129\n", "")
    assert read_checkpoint(only(runs) / "checkpoint").data["round"] > 0
    assert (only(runs) / "report.html").exists()


def test_a_negative_seed_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "runs", "--seed=-1") == 2
    assert "seed must be 0 or more, got -1" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_eval_refuses_a_negative_seed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["eval", "nowhere", "--seed=-1"])

    assert exit_.value.code == 2
    assert "must be an integer of 0 or more, got '-1'" in capsys.readouterr().err


def test_resume_with_other_settings_fails(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {p.name: p.read_bytes() for p in run.iterdir()}

    assert main(["train", "dqn", "--resume", str(run), "--gamma", "0.5"]) == 2

    said = capsys.readouterr().err
    assert "the checkpoint is of another task: algorithm.gamma is 0.5 here" in said
    assert {p.name: p.read_bytes() for p in run.iterdir()} == before


def test_two_processes_do_not_train_in_one_run(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = RunDirectory.open(run).lock()
    try:
        assert main(["train", "dqn", "--resume", str(run)]) == 2
    finally:
        os.close(held)
    assert "another process is training in this run" in capsys.readouterr().err


def test_of_two_processes_only_one_creates_a_run(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.mkdir()
    held = RunDirectory(path, {}).lock()
    settings = {"env_id": "CartPole-v1", "seed": 1}
    try:
        with pytest.raises(RunError, match="another process is training"):
            RunDirectory.create(
                path, runs=tmp_path, algorithm="dqn", settings=settings, command=[]
            )
    finally:
        os.close(held)
    assert list(path.iterdir()) == []


# -- options of the environment -------------------------------------------------------


def test_options_of_the_environment_are_used_saved_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [
        "--env-kwargs",
        "sutton_barto_reward=True",
        "--time-limit=6",
        "--wrapper=gymnasium.wrappers:TimeAwareObservation",
        "--wrapper=gymnasium.wrappers:ClipReward(-0.5, 0.25)",
        "--frame-stack=2",
    ]
    assert train(tmp_path / "whole", *flags) == 0
    steps = (
        "time limit 6, wrapper gymnasium.wrappers:TimeAwareObservation, wrapper "
        "gymnasium.wrappers:ClipReward(-0.5, 0.25), frame stack 2"
    )
    assert f"preprocessing: {steps}\n" in capsys.readouterr().err
    run = only(tmp_path / "whole")
    config = json.loads((run / "config.json").read_text())
    settings = config["settings"]
    assert settings["env_kwargs"] == ["sutton_barto_reward=True"]
    assert settings["time_limit"] == 6
    assert settings["wrappers"] == [
        flag.removeprefix("--wrapper=") for flag in flags[3:5]
    ]
    assert ", ".join(config["preprocessing"]) == steps
    lengths = [v for _, key, v in rows(run) if key == "charts/episodic_length"]
    assert set(lengths) == {6.0}  # with this reward, no episode of six steps fails
    assert "preprocessing steps" in (run / "report.html").read_text()

    assert main(["eval", str(run), "--episodes=2"]) == 0
    assert "length  mean 6\n" in capsys.readouterr().out

    # The settings of the run are enough to resume it; others are another task.
    assert main(["train", "dqn", "--resume", str(run)]) == 0
    assert main(["train", "dqn", "--resume", str(run), "--time-limit=7"]) == 2
    assert "time_limit is 7 here and 6 there" in capsys.readouterr().err


def test_training_without_end_of_episodes_ends_and_reports_the_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--eval-max-steps=20", "--total-timesteps=320"]
    assert train(tmp_path, "--env-id=CliffWalking-v1", *flags) == 0
    run = only(tmp_path)
    assert "3 of 3 episodes were cut at 20 steps\n" in capsys.readouterr().out
    assert "3 of 3 episodes were cut at 20 steps" in (run / "report.html").read_text()
    cut = [(step, v) for step, key, v in rows(run) if key == "eval/cut_episodes"]
    assert cut[-1] == (320, 3.0)
    assert cut[0][1] == 2.0  # of an evaluation during training

    assert main(["eval", str(run), "--episodes=2"]) == 0
    assert "cut     2 of 2 episodes were cut at 20 steps\n" in capsys.readouterr().out
    assert main(["eval", str(run), "--episodes=1", "--eval-max-steps=9"]) == 0
    assert "1 of 1 episodes was cut at 9 steps\n" in capsys.readouterr().out


# -- what cannot be done --------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "match"),
    [
        (["--env-id=Nonsense-v0"], "environment 'Nonsense-v0' could not be found"),
        (["--env-id=Pendulum-v1"], "action space must be Discrete for DQN, got Box"),
        (["--total-timesteps=0"], "total_timesteps must be at least 1, got 0"),
        (["--num-envs=0"], "num_envs must be at least 1, got 0"),
        (
            ["--num-envs=5", "--rollouts=2"],
            "num_envs must be divisible by rollouts",
        ),
        (["--train-frequency=0"], "train_frequency must be above 0, got 0"),
        (["--exploration-fraction=0"], "exploration_fraction must be in (0, 1], got 0"),
        (["--learning-starts=10000"], "learning must start within 640 steps"),
        (["--buffer-size=3"], "replay capacity must be at least 32"),
        (["--workers=0"], "workers must be from 1 to 1024, got 0"),
        (["--workers=100000"], "workers must be from 1 to 1024, got 100000"),
        (["--checkpoint-every=0"], "checkpoint_every must be at least 1, got 0"),
        (["--track"], "track needs Weights & Biases, which is not installed"),
        (["--resume=nowhere"], "nowhere: there is no such directory"),
        (["--env-id=Taxi-v3"], "Use 'Taxi-v4'."),
        (["--env-id=CartPol-v1"], "Did you mean 'CartPole-v1'?"),
        (["--env-kwargs", "gravty=1"], "unexpected keyword argument 'gravty'"),
        (["--wrapper=Flatten"], "wrapper must be module:function, got 'Flatten'"),
        (["--wrapper=gymnasium.wrappers:Flaten"], "has no function 'Flaten'"),
        (["--time-limit=0"], "time_limit must be at least 1, or None, got 0"),
        (["--frame-stack=0"], "frame_stack must be at least 1, or None, got 0"),
    ],
)
def test_invalid_flags_give_one_message(
    flags: list[str],
    match: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)  # as if it were not installed
    monkeypatch.setattr("reactorl.rl.runs.trainer.find_spec", _not_wandb)

    assert train(tmp_path, *flags) == 2

    out, err = capsys.readouterr()
    assert match in err
    assert err.startswith("reactorl: error: ")
    assert out == ""
    assert re.fullmatch(r".+\n(  help: .+\n)?", err)
    assert list(tmp_path.iterdir()) == []


def _not_wandb(name: str) -> object:
    return None if name == "wandb" else object()


def test_wrong_flags_exit_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, "--nonsense=3") == 2
    said = capsys.readouterr().err
    assert re.fullmatch(
        r"reactorl train dqn: error: .*--nonsense.*\n  help: .+\n", said
    )
    assert main(["train", "nonsense"]) == 2
    said = capsys.readouterr().err
    assert (
        "algorithm must be one of dqn, impala, ippo, ppo, q-learning, sac, td3, "
        "got 'nonsense'" in said
    )
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_created_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    assert train(tmp_path / "file" / "runs") == 2

    said = capsys.readouterr().err
    assert "the run's directory could not be created: not a directory" in said
    assert "Choose another place with --runs-dir." in said


def test_a_disk_that_is_full_at_once_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "fsync", _full)

    assert train(tmp_path) == 2

    assert "could not be created: no space left on device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def _full(*_args: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_becomes_full_leaves_the_last_checkpoint(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write, calls = session.write_checkpoint, iter(range(100))

    def filling(*args: Any) -> None:
        with monkeypatch.context() as patch:
            if next(calls) == 2:
                patch.setattr(os, "fsync", _full)
            write(*args)

    monkeypatch.setattr(session, "write_checkpoint", filling)

    assert train(tmp_path) == 1

    path = only(tmp_path)
    said = capsys.readouterr().err
    assert f"writing {path / 'checkpoint'} failed: no space left on device" in said
    assert "The last complete checkpoint is of step 256; resume from it with" in said
    assert read_checkpoint(path / "checkpoint").data["round"] == 8
    assert not list(path.glob(".*"))


class Broken(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(-1, 1, (2,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, _action: Any) -> Any:
        msg = "the arm came off"
        raise RuntimeError(msg)


def test_a_failing_environment_ends_the_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gym.register("Broken-v0", entry_point=Broken)
    try:
        assert train(tmp_path, "--env-id=Broken-v0") == 1
    finally:
        gym.registry.pop("Broken-v0")

    said = capsys.readouterr().err
    assert "the arm came off" in said
    assert "the training failed. There is no checkpoint yet." in said


@pytest.mark.parametrize("command", ["train dqn", "eval x", "plot x", "runs"])
def test_missing_packages_are_named(
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)

    assert main(command.split()) == 2

    said = capsys.readouterr().err
    assert said.count("\n") == 2
    assert "not installed: numpy, gymnasium" in said
    assert "pip install 'reactorl[train]'" in said


@pytest.mark.parametrize("command", ["run", "check", "train"])
def test_nothing_heavy_is_imported_before_it_is_needed(
    command: str, tmp_path: Path
) -> None:
    file = tmp_path / "Hello.lf"
    file.write_text("target Python\nmain reactor {\n reaction(startup) {= pass =}\n}\n")
    code = (
        "import sys; from reactorl.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "slow = {'jax', 'rich', 'cyclopts', 'matplotlib', 'numpy'}\n"
        "print(*(set(sys.modules) & slow))"
    )
    argument = "--help" if command == "train" else str(file)

    done = subprocess.run(
        [sys.executable, "-c", code, command, argument],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1:] in ([], [""])


# -- showing --------------------------------------------------------------------------


def test_lines_come_once_a_second_at_most(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(np.arange(0.0, 1_000.0, 0.25))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    task = DQN().task()

    shown = progress.Progress(task, 0, [1.0, 3.0], title="DQN")
    with progress.Display(shown) as display:
        for _ in range(20):
            display.update()

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6  # in 5 seconds, and one at the end
    assert "return, last 100 2" in lines[0]


def test_progress_shows_steps_and_the_evaluation_under_way() -> None:
    shown = progress.Progress(DQN().task(), 0, title="DQN")
    episodes = (Episode(2.0, 9, is_cut=True), Episode(4.0, 3))
    found = Iteration(3, 256, (), None, Evaluated(1, episodes))
    shown.add(found)
    shown.evaluating = PlayProgress(1, 4, 2_500)

    rows = dict(shown.rows)

    assert rows["steps"] == "768 of 80,128"
    assert rows["return, last 100"] == "no episode has ended yet"
    assert rows["evaluation"] == (
        "3 (1 of 2 episodes cut), running: 1 of 4 episodes, 2,500 steps"
    )


def test_a_terminal_gets_a_live_display(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    task = DQN().task()
    shown = progress.Progress(task, 0, title="DQN on CartPole-v1")

    with progress.Display(shown) as display:
        display.show(time.monotonic())

    said = capsys.readouterr().err
    assert "DQN on CartPole-v1" in said
    for word in ("steps/s", "return, last 100", "loss", "time left", "cores busy"):
        assert word in said


class Tracked:
    """A run of Weights & Biases, as far as it is used: keeps what it is told."""

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.logged: list[tuple[int, dict[str, float]]] = []
        self.finished = False

    def log(self, values: dict[str, float], step: int) -> None:
        assert not self.finished
        assert step > (self.logged[-1][0] if self.logged else 0)  # others are dropped
        self.logged.append((step, values))

    def finish(self) -> None:
        self.finished = True


def test_tracked_values_equal_the_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Tracked] = []

    def init(**said: Any) -> Tracked:
        begun.append(Tracked(**said))
        return begun[-1]

    wandb = ModuleType("wandb")
    wandb.__spec__ = ModuleSpec("wandb", None)
    monkeypatch.setattr(wandb, "init", init, raising=False)
    monkeypatch.setitem(sys.modules, "wandb", wandb)

    assert train(tmp_path, "--track", "--wandb-project-name=poles") == 0

    path, (run,) = only(tmp_path), begun
    assert run.finished
    assert (run.said["project"], run.said["entity"]) == ("poles", None)
    assert run.said["name"] == path.name
    assert run.said["config"]["num_envs"] == 4
    kept: dict[tuple[int, str], list[float]] = {}
    for step, key, value in rows(path):
        kept.setdefault((step, key), []).append(value)
    assert {
        (step, key): value
        for step, values in run.logged
        for key, value in values.items()
        if key != "charts/SPS"
    } == {place: sum(values) / len(values) for place, values in kept.items()}
    assert max(map(len, kept.values())) > 1  # several episodes ended in one step


# -- eval, runs, plot -----------------------------------------------------------------


def test_eval_plays_greedy_episodes(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(run), "--episodes", "3"]) == 0
    first = capsys.readouterr().out
    assert main(["eval", str(run), "--episodes", "3"]) == 0
    again = capsys.readouterr().out

    assert first == again
    assert f"{run} after 640 steps: 3 episodes" in first
    assert "return  mean" in first


class Drawn(gym.Env[Any, Any]):
    """Lasts five steps, and can be drawn without further packages."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    observation_space = gym.spaces.Box(-10, 10, (2,))
    action_space = gym.spaces.Discrete(2)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.time = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.time = 0
        return np.zeros(2, np.float32), {}

    def step(self, _action: Any) -> Any:
        self.time += 1
        return np.full(2, self.time, np.float32), 1.0, self.time == 5, False, {}

    def render(self) -> Any:
        return np.full((20, 30, 3), 40 * self.time, np.uint8)


def test_eval_makes_videos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    gym.register("Drawn-v0", entry_point=Drawn)
    try:
        assert train(tmp_path, "--env-id=Drawn-v0", "--total-timesteps=64") == 0
        path = only(tmp_path)
        assert main(["eval", str(path), "--episodes", "2", "--capture-video"]) == 0
    finally:
        gym.registry.pop("Drawn-v0")

    assert f"videos  {path / 'videos'}" in capsys.readouterr().out
    videos = sorted((path / "videos").iterdir())
    assert [video.name for video in videos] == ["episode-000.gif", "episode-001.gif"]
    for video in videos:
        with Image.open(video) as picture:
            assert (picture.n_frames, picture.size) == (6, (30, 20))


@pytest.mark.parametrize("command", ["eval", "plot"])
def test_a_directory_without_a_run_is_reported(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path)]) == 2
    assert f"{tmp_path}: there is no run" in capsys.readouterr().err
    (tmp_path / "config.json").write_text("{")
    assert main([command, str(tmp_path)]) == 2
    assert "reading the configuration failed" in capsys.readouterr().err
    (tmp_path / "config.json").write_text('{"format": 99}')
    assert main([command, str(tmp_path)]) == 2
    assert "not one of this version" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_reported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_bytes((run / "config.json").read_bytes())
    assert main(["eval", str(tmp_path)]) == 2
    assert "there is no checkpoint" in capsys.readouterr().err
    (tmp_path / "checkpoint").write_bytes((run / "checkpoint").read_bytes()[:-1])

    for command in (["eval", str(tmp_path)], ["train", "dqn", f"--resume={tmp_path}"]):
        assert main(command) == 2
        assert "the checkpoint is damaged" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint", "config.json"]


def test_runs_are_listed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--runs-dir", str(run.parent)]) == 0

    head, line = capsys.readouterr().out.splitlines()
    final = next(v for _, key, v in rows(run) if key == "eval/final_return")
    assert head.split() == ["run", "began", "steps", "return", "final", "return"]
    assert line.split()[0] == run.name
    assert line.split()[3] == "640"
    assert line.split()[5] == f"{final:.1f}"


def test_runs_reports_an_empty_or_missing_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "--runs-dir", str(tmp_path)]) == 0
    assert "no runs in" in capsys.readouterr().out
    assert main(["runs", "--runs-dir", str(tmp_path / "x")]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_plot_draws_runs_into_one_figure(
    kind: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / f"both.{kind}"

    assert main(["plot", str(run), str(run), "-o", str(picture)]) == 0

    assert capsys.readouterr().out == f"{picture}\n"
    marks = {"png": b"\x89PNG", "svg": b"<?xml"}
    assert picture.read_bytes().startswith(marks[kind])


def test_plot_reports_unwritable_files(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(run), "-o", "x.txt"]) == 2
    assert "output must be a .png or .svg file, got 'x.txt'" in capsys.readouterr().err
    nowhere = tmp_path / "no" / "x.png"
    assert main(["plot", str(run), "-o", str(nowhere)]) == 2
    assert f"{nowhere}: no such file or directory" in capsys.readouterr().err


# -- as a process ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dqn_solves_cartpole(seed: int, tmp_path: Path) -> None:
    flags = ["train", "dqn", f"--seed={seed}", "--workers=2", f"--runs-dir={tmp_path}"]
    assert main(flags) == 0

    (final,) = (v for _, k, v in rows(only(tmp_path)) if k == "eval/final_return")
    assert final >= 475
