# SPDX-License-Identifier: Apache-2.0
"""Directories of runs that a crash or somebody else has damaged."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from reactorl.cli.main import main
from reactorl.rl import QLearning, RunDirectory, RunError, runs_in
from reactorl.rl.runs.config import task_of
from reactorl.rl.runs.metrics import MetricsWriter, read_metrics

if TYPE_CHECKING:
    from pathlib import Path

HEAD = b"global_step,seconds,key,value\r\n"
ROW = b"8,0.125,charts/episodic_return,12.5\r\n"


def create(runs: Path, **settings: Any) -> RunDirectory:
    return RunDirectory.create(
        None,
        runs=runs,
        algorithm="q-learning",
        settings={"env_id": "FrozenLake-v1", "seed": 1, **settings},
        command=["reactorl"],
    )


def changed(run: RunDirectory, **values: Any) -> None:
    file = run.path / "config.json"
    file.write_text(json.dumps({**run.config, **values}))


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"settings": [1]}, "'settings' must be of type dict, got [1]"),
        ({"settings": {"seed": 1}}, "its settings lack 'env_id'"),
        ({"algorithm": None}, "'algorithm' must be of type str, got None"),
        ({"began": "yesterday"}, "'began' must be of type int, got 'yesterday'"),
        ({"began": 10**30}, "'began' must be seconds since 1970, got 1000"),
        ({"versions": []}, "'versions' must be of type dict, got []"),
        ({"command": 1}, "'command' must be of type list, got 1"),
    ],
)
def test_a_damaged_configuration_is_refused_and_others_are_listed(
    values: dict[str, Any],
    what: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damaged, whole = create(tmp_path), create(tmp_path)
    changed(damaged, **values)

    with pytest.raises(RunError) as caught:
        RunDirectory.open(damaged.path)

    assert caught.value.what.startswith(f"the configuration is damaged: {what}")
    assert [run.path for run in runs_in(tmp_path)] == [whole.path]
    assert main(["runs", "--runs-dir", str(tmp_path)]) == 0
    assert whole.path.name in capsys.readouterr().out


def test_a_configuration_that_nests_too_deep_is_refused(tmp_path: Path) -> None:
    run = create(tmp_path)
    (run.path / "config.json").write_text("[" * 100_000)

    with pytest.raises(RunError, match="reading the configuration failed"):
        RunDirectory.open(run.path)


@pytest.mark.parametrize("value", ["much", None, [1]])
def test_settings_of_another_type_are_refused(value: Any, tmp_path: Path) -> None:
    options = QLearning.task_type().options_type()
    settings = json.loads(json.dumps({**asdict(QLearning()), **asdict(options)}))
    settings["env_kwargs"] = []
    task_of(create(tmp_path, **settings))

    with pytest.raises(RunError, match="the settings are damaged"):
        task_of(create(tmp_path, **{**settings, "gamma": value}))


@pytest.mark.parametrize("length", range(len(ROW)))
def test_the_last_line_of_a_killed_process_is_left_out(
    length: int, tmp_path: Path
) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(HEAD + ROW + ROW[:length])

    assert [*read_metrics(path)] == [(8, 0.125, "charts/episodic_return", 12.5)]


@pytest.mark.parametrize(
    "damage",
    [bytes(4096), b"\xff\xfe\r\n", b"8,0.1,\0,1\r\n8", b"9" * 200_000 + b"\n", b'"\n'],
)
def test_damaged_metrics_are_left_out(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(HEAD + ROW + damage)

    found = [row for row in read_metrics(path) if row[2] != "\0"]

    assert found == [(8, 0.125, "charts/episodic_return", 12.5)]


def test_keys_of_metrics_may_be_any_text(tmp_path: Path) -> None:
    writer = MetricsWriter(tmp_path, iterations=1)
    writer.write(1, 'my, "own"\nmetric', 0.5)
    writer.close()

    ((step, _, key, value),) = read_metrics(tmp_path / "metrics.csv")
    assert (step, key, value) == (1, 'my, "own" metric', 0.5)


def test_runs_with_unreadable_metrics_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = create(tmp_path)
    run.metrics.mkdir()

    assert main(["runs", "--runs-dir", str(tmp_path)]) == 0

    printed = capsys.readouterr()
    assert run.path.name in printed.out
    assert "metrics.csv: is a directory" in printed.err
