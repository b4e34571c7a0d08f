# SPDX-License-Identifier: Apache-2.0
"""Presets: which one an environment gets, that flags win, and what a run saves."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from reactorl.cli.main import main
from reactorl.rl import (
    PPO,
    FlowError,
    RunDirectory,
    Trainer,
    list_presets,
    preset,
    read_checkpoint,
    task_of,
)
from reactorl.rl.algorithms.registry import ALGORITHMS, algorithm_class
from reactorl.rl.presets.families import FAMILIES, family_of
from reactorl.rl.presets.lookup import find_preset
from tests.rl.trained import same

if TYPE_CHECKING:
    from pathlib import Path

SHORT = ["--total-timesteps=512", "--num-envs=4", "--num-steps=64", "--eval-every=0"]
QUIET = ["--final-episodes=0", "--no-progress", "--workers=2"]


def train(runs: Path, *flags: str) -> int:
    line = ["train", "ppo", "--env-id=Pendulum-v1", *SHORT, *QUIET]
    return main([*line, f"--runs-dir={runs}", *flags])


def settings(runs: Path) -> dict[str, object]:
    (path,) = runs.iterdir()
    found: dict[str, object] = json.loads((path / "config.json").read_text())[
        "settings"
    ]
    return found


@pytest.mark.parametrize("one", list_presets(), ids=lambda one: one.name)
def test_presets_are_valid_settings(one: object) -> None:
    algorithm, _, where = one.name.partition("/")  # type: ignore[attr-defined]
    cls = algorithm_class(algorithm)
    options = cls.task_type().options_type
    known = {f.name for f in (*fields(cls), *fields(options))}

    assert where in FAMILIES or find_preset(algorithm, f"{where}-v0") is not None
    assert set(one.settings) <= known  # type: ignore[attr-defined]
    assert one.tried  # type: ignore[attr-defined]
    assert one.source  # type: ignore[attr-defined]
    task = one.task()  # type: ignore[attr-defined]
    for name, value in one.settings.items():  # type: ignore[attr-defined]
        owner = task.algorithm if hasattr(task.algorithm, name) else task
        assert getattr(owner, name) == value


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_default_environment_has_no_preset(algorithm: str) -> None:
    # Else `reactorl train ppo` and `PPO().task()` would be different trainings.
    assert find_preset(algorithm, algorithm_class(algorithm).default_env) is None


@pytest.mark.parametrize(
    ("env_id", "family"),
    [
        ("CartPole-v1", "classic-control"),
        ("LunarLander-v3", "box2d"),
        ("LunarLander", "box2d"),
        ("HalfCheetah-v5", "mujoco"),
        ("FrozenLake-v1", "toy-text"),
        ("ALE/Pong-v5", "atari"),
        ("ale_py:ALE/Pong-v5", "atari"),
        ("MinAtar/Breakout-v1", "minatar"),
        ("MiniGrid-DoorKey-5x5-v0", "minigrid"),
        ("Mine-v0", None),
    ],
)
def test_family_of_an_environment(env_id: str, family: str | None) -> None:
    assert family_of(env_id) == family


def test_preset_of_an_environment_precedes_that_of_its_family() -> None:
    assert preset("ppo", "LunarLander-v3").name == "ppo/LunarLander"
    assert preset("ppo", "BipedalWalker-v3").name == "ppo/box2d"
    assert preset("ppo", "gymnasium:LunarLander-v3").name == "ppo/LunarLander"


def test_environment_without_preset_is_an_error_that_lists_them() -> None:
    with pytest.raises(FlowError, match=r"ppo has no preset for Mine-v0") as error:
        preset("ppo", "Mine-v0")
    assert "LunarLander" in str(error.value)
    with pytest.raises(FlowError, match="algorithm must be one of"):
        preset("ppp", "LunarLander-v3")


def test_preset_in_python_takes_changes_of_algorithm_and_task() -> None:
    found = preset("ppo", "Pendulum-v1")

    task = found.task(seed=7, gamma=0.5, eval_every=0)

    assert task.algorithm == found.algorithm(gamma=0.5)
    assert (task.env, task.seed, task.eval_every) == ("Pendulum-v1", 7, 0)
    assert task.preset == "ppo/Pendulum"
    assert PPO().gamma == 0.99  # the plain defaults stay


def test_train_applies_the_preset_prints_and_saves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, "--gamma=0.8") == 0

    found, err = settings(tmp_path), capsys.readouterr().err
    wanted = preset("ppo", "Pendulum-v1").settings
    assert found["preset"] == "ppo/Pendulum"
    assert found["gamma"] == 0.8  # a flag takes precedence
    assert found["update_epochs"] == wanted["update_epochs"] != PPO().update_epochs
    line = next(line for line in err.splitlines() if line.startswith("preset:"))
    assert line.startswith("preset: ppo/Pendulum (")
    assert f"update_epochs {wanted['update_epochs']}" in line
    assert "gamma" not in line


def test_no_preset_trains_with_the_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, "--no-preset") == 0

    found = settings(tmp_path)
    assert "preset" not in found
    assert found["gamma"] == PPO().gamma
    assert "preset" not in capsys.readouterr().err


def test_flags_are_checked_together_with_the_preset(tmp_path: Path) -> None:
    # 32 minibatches of the preset do not fit into 2 * 8 steps, but 4 do.
    small = ["--num-envs=2", "--num-steps=8", "--total-timesteps=32"]
    assert train(tmp_path, *small) == 2
    assert train(tmp_path, *small, "--num-minibatches=4") == 0


def test_python_with_the_preset_equals_the_command_line(tmp_path: Path) -> None:
    assert train(tmp_path) == 0
    (path,) = tmp_path.iterdir()

    task = preset("ppo", "Pendulum-v1").task(
        total_timesteps=512, num_envs=4, num_steps=64, eval_every=0
    )

    saved = task_of(RunDirectory.open(path))
    assert saved == task
    assert saved.preset == task.preset == "ppo/Pendulum"
    Trainer(task, tmp_path / "python", final_episodes=0, progress=False).fit()
    states = [
        read_checkpoint(run / "checkpoint", task).data
        for run in (path, tmp_path / "python")
    ]
    assert same(*states)


def test_resume_keeps_the_saved_settings(tmp_path: Path) -> None:
    assert train(tmp_path, "--no-preset", "--gamma=0.7") == 0
    (path,) = tmp_path.iterdir()
    before = (path / "config.json").read_text()

    resume = ["train", "ppo", f"--resume={path}", "--no-progress"]
    assert main([*resume, "--final-episodes=0"]) == 0

    assert (path / "config.json").read_text() == before


@pytest.mark.parametrize("line", [["--list-presets"], ["ppo", "--list-presets"]])
def test_list_presets(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["train", *line])
    except SystemExit as exit_:
        status = int(exit_.code or 0)

    out = capsys.readouterr().out
    assert status == 0
    assert "ppo/LunarLander (" in out
    assert "tried on: " in out
    assert ("dqn/" in out) == (len(line) == 1)
