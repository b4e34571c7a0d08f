# SPDX-License-Identifier: Apache-2.0
"""What every algorithm keeps: an algorithm is covered by being registered."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from reactorl.cli.main import main
from reactorl.rl import RunDirectory, read_checkpoint, task_of
from reactorl.rl.algorithms.registry import ALGORITHMS, algorithm_class
from tests.rl.contract.tasks import TASKS
from tests.rl.trained import bits, lasting, same, trained

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl.rl import Iteration, Task

CASES = [(name, kind) for name, kinds in TASKS.items() for kind in kinds]


@cache
def with_one_worker(name: str, kind: str) -> tuple[bytes, list[Iteration]]:
    return trained(TASKS[name][kind], workers=1)


@pytest.fixture(params=CASES, ids=lambda case: ": ".join(case))
def expected(request: pytest.FixtureRequest) -> tuple[Task, bytes, list[Iteration]]:
    name, kind = request.param
    return TASKS[name][kind], *with_one_worker(name, kind)


def test_every_registered_algorithm_has_tasks() -> None:
    assert set(TASKS) == set(ALGORITHMS)
    for name, kinds in TASKS.items():
        assert all(type(t.algorithm) is algorithm_class(name) for t in kinds.values())


@pytest.mark.parametrize(
    "options",
    [{"workers": 2}, {"workers": 3, "shuffle": 7}, {"workers": 2, "shuffle": 8}],
    ids=str,
)
def test_weights_are_bit_identical_for_any_workers_and_shuffle_seed(
    options: Any, expected: tuple[Task, bytes, list[Iteration]]
) -> None:
    task, weights, iterations = expected
    assert trained(task, **options) == (weights, iterations)


def test_a_trace_does_not_change_the_weights(
    expected: tuple[Task, bytes, list[Iteration]],
) -> None:
    task, weights, iterations = expected
    assert trained(task, workers=2, trace="values") == (weights, iterations)


def test_a_run_resumed_after_every_iteration_ends_with_the_same_bits(
    expected: tuple[Task, bytes, list[Iteration]],
) -> None:
    task, weights, iterations = expected
    found: list[Iteration] = []
    saved: Any = None
    for _ in range(task.iterations):
        with task.start(workers=2, saved=saved) as run:
            found.append(run.step())
            saved = run.save()
            last = bits(run.weights)
    assert last == weights
    assert found == iterations


@pytest.mark.parametrize("stop", [1, 4])
def test_a_run_stopped_once_ends_with_the_same_bits(
    stop: int, expected: tuple[Task, bytes, list[Iteration]]
) -> None:
    task, weights, iterations = expected
    with task.start(workers=2) as run:
        first = [run.step() for _ in range(stop)]
        saved = run.save()
    with task.start(workers=1, saved=saved) as run:
        rest = list(run.iterations())
        assert bits(run.weights) == weights
    assert first + rest == iterations


def test_a_resumed_run_saves_the_state_that_it_started_from(
    expected: tuple[Task, bytes, list[Iteration]],
) -> None:
    task, _, _ = expected
    with task.start() as run:
        for _ in range(4):
            run.step()
        saved = run.save()
    with task.start(saved=saved) as run:
        again = run.save()
    assert same(again, saved)


def test_tasks_differ_from_each_other_and_by_seed() -> None:
    for name, kinds in TASKS.items():
        found = [with_one_worker(name, kind)[0] for kind in kinds]
        found.append(trained(replace(next(iter(kinds.values())), seed=2))[0])
        assert len({*found}) == len(found), name


@pytest.mark.parametrize("name", ALGORITHMS)
def test_environments_in_processes_give_the_same_bits(name: str) -> None:
    kind, task = next(iter(TASKS[name].items()))
    weights, iterations = with_one_worker(name, kind)
    processes = replace(task, placement="process")

    with processes.start(workers=2) as run:
        first = [run.step() for _ in range(2)]
        saved = run.save()
    with processes.start(workers=1, saved=saved) as run:
        rest = list(run.iterations())
        assert bits(run.weights) == weights
    assert first + rest == iterations


@pytest.mark.parametrize("name", ALGORITHMS)
def test_python_and_the_command_line_give_the_same_weights(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "ippo":
        pytest.importorskip("mpe2", reason="mpe2 needs pygame: no wheel for 3.14t")
    # Off-policy algorithms learn after 1,000 steps.
    count = {"dqn": 5, "sac": 64, "td3": 64}.get(name, 2)
    task = lasting(algorithm_class(name)().task(seed=5), count)
    steps = count * task.steps_per_iteration
    flags = ["--seed", "5", "--total-timesteps", str(steps), "--final-episodes", "0"]

    status = main(["train", name, *flags, "--runs-dir", str(tmp_path), "--no-progress"])

    assert status == 0, capsys.readouterr().err
    (path,) = tmp_path.iterdir()
    run = RunDirectory.open(path)
    assert task_of(run) == task
    saved = read_checkpoint(run.checkpoint, task).data
    assert bits(task.trained_weights(saved)) == bits(task.run(workers=2))
