# SPDX-License-Identifier: Apache-2.0
"""Training over federates: the weights, trace and checkpoint of one process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import pytest

from reactorl import Federation, ProgramError
from reactorl.rl import FlowError, read_checkpoint, write_checkpoint
from reactorl.rl.flow.federates import flow_federation, rollout_blocks
from tests.rl.contract.tasks import IPPO_TASK, Q_TASK, SERVER, TASKS
from tests.rl.trained import bits, tuned

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl import Result

LAGGING = TASKS["q-learning"]["Blackjack, lag 2"]
SINGLE = {
    f"{name}, {variant}": task
    for name, variants in TASKS.items()
    for variant, task in variants.items()
    if name != "ippo"
}


class Counter(gym.Env[Any, Any]):
    """Counts steps; the reward depends on chance."""

    observation_space = gym.spaces.Discrete(6)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        reward = float(self.np_random.normal()) + action
        return self.steps, reward, self.steps == 5, False, {}


class Breaking(Counter):
    """Cannot be stepped after a while."""

    def step(self, action: Any) -> Any:
        if self.steps == 3:
            msg = "worn out"
            raise OSError(msg)
        return super().step(action)


def outcome(
    task: Any, path: Path, federation: Any, *, until: int | None = None, **options: Any
) -> Any:
    """Train up to an iteration; return weights, iterations, trace and checkpoint."""
    ended: list[Result] = []
    with task.start(
        federation=federation, trace="values", at_end=ended.append, **options
    ) as run:
        iterations = []
        while run.done < (until or task.iterations):
            iterations.append(run.step())
        write_checkpoint(path, run.save(), task)
        weights = bits(run.weights)
    return weights, iterations, ended[0].digest, path.read_bytes()


@pytest.mark.parametrize("task", [Q_TASK, LAGGING], ids=["lag 0", "lag 2"])
def test_weights_trace_and_checkpoint_are_those_of_one_process(
    task: Any, tmp_path: Path
) -> None:
    expected = outcome(task, tmp_path / "file", None)

    assert outcome(task, tmp_path / "file", 1) == expected
    assert outcome(task, tmp_path / "file", 2) == expected
    assert outcome(task, tmp_path / "file", 4, workers=2, shuffle=3) == expected


def test_neural_networks_learn_at_the_head(tmp_path: Path) -> None:
    task = SINGLE["impala, continuous, lag 3"]

    assert outcome(task, tmp_path / "file", 2) == outcome(task, tmp_path / "file", None)


@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_every_algorithm_gives_the_result_of_one_process(
    name: str, tmp_path: Path
) -> None:
    task = SINGLE[name]
    expected = outcome(task, tmp_path / "file", None)

    for federates in (2, 4):
        assert outcome(task, tmp_path / "file", federates) == expected


@pytest.mark.parametrize(
    "task",
    [LAGGING, pytest.param(Q_TASK, marks=pytest.mark.slow)],
    ids=["lag 2", "lag 0"],
)
def test_saved_by_one_number_of_federates_and_resumed_by_another(
    task: Any, tmp_path: Path
) -> None:
    weights, iterations, _, whole = outcome(task, tmp_path / "file", None)
    files: list[bytes] = []
    for before, after in ((1, 4), (4, 2), (2, 1)):
        path = tmp_path / f"of {before}"
        *_, half = outcome(task, path, before, until=4)
        files.append(half)
        saved = read_checkpoint(path, task).data
        found = outcome(task, tmp_path / "resumed", after, saved=saved)
        assert found[0] == weights
        assert found[1] == iterations[4:]
        assert found[3] == whole
    assert files == [files[0]] * 3


def test_a_run_that_is_resumed_is_saved_before_its_first_iteration(
    tmp_path: Path,
) -> None:
    *_, half = outcome(LAGGING, tmp_path / "half", None, until=3)
    saved = read_checkpoint(tmp_path / "half", LAGGING).data

    with LAGGING.start(federation=4, saved=saved) as run:
        write_checkpoint(tmp_path / "again", run.save(), LAGGING)

    assert (tmp_path / "again").read_bytes() == half


def test_environments_may_be_in_processes_of_a_federate(tmp_path: Path) -> None:
    task = replace(Q_TASK, placement="process")

    assert outcome(task, tmp_path / "file", 2) == outcome(
        Q_TASK, tmp_path / "one", None
    )


def test_an_environment_of_the_main_module_goes_by_value(tmp_path: Path) -> None:
    # A class that no other process can import.
    class Local(Counter):
        pass

    Local.__module__ = "__main__"
    task = replace(Q_TASK, env=Local, eval_every=0)

    assert outcome(task, tmp_path / "file", 2) == outcome(task, tmp_path / "file", None)


def test_a_placement_of_ones_own(tmp_path: Path) -> None:
    placement = {
        "main.rollout[1:3]": "a",
        "main.rollout[3]": "b",
        "main.evaluation": "a",
    }
    other = {"main.replay": "memory", "main.rollout": "all"}
    expected = outcome(LAGGING, tmp_path / "file", None)

    for each in (placement, other):
        federation = Federation(each, rest="here")
        assert outcome(LAGGING, tmp_path / "file", federation) == expected


# -- which rollouts go where -----------------------------------------------------------


@pytest.mark.parametrize(
    ("rollouts", "federates", "blocks"),
    [
        (4, 1, [4]),
        (4, 2, [2, 2]),
        (4, 3, [1, 1, 2]),
        (4, 4, [1, 1, 1, 1]),
        (4, 5, [0, 1, 1, 1, 1]),
        (1, 2, [0, 1]),
        (7, 3, [2, 2, 3]),
    ],
)
def test_the_head_has_the_fewest_rollouts(
    rollouts: int, federates: int, blocks: list[int]
) -> None:
    assert rollout_blocks(rollouts, federates) == blocks


def test_federates_of_a_number() -> None:
    found = flow_federation(Q_TASK, 3)

    assert found is not None
    assert found.placement == {
        "main.rollout[1:2]": "head-1",
        "main.rollout[2:4]": "head-2",
    }
    assert found.replicas == ("main.clock",)
    assert flow_federation(Q_TASK, 1) is None
    assert flow_federation(Q_TASK, Federation(1)) is None


# -- what is refused -------------------------------------------------------------------


@pytest.mark.parametrize("federates", [0, 6])
def test_more_federates_than_rollouts_are_refused(federates: int) -> None:
    message = f"federates must be from 1 to 5, one more than rollouts, got {federates}"
    with pytest.raises(FlowError, match=message):
        Q_TASK.start(federation=federates)
    with pytest.raises(FlowError, match=message):
        Q_TASK.check_federates(federates)


@pytest.mark.parametrize("name", ["main.learner", "main.clock", "main", "main.server"])
def test_the_learner_stays_at_the_head(name: str) -> None:
    with pytest.raises(
        FlowError, match=r"placement must be of main\.evaluation"
    ) as raised:
        Q_TASK.start(federation=Federation({name: "a"}))

    assert "learner stays" in str(raised.value)


def test_learners_of_a_parameter_server_can_be_placed() -> None:
    found = flow_federation(SERVER, Federation({"main.learner[1]": "a"}))

    assert found is not None
    assert found.placement == {"main.learner[1]": "a"}


def test_names_that_do_not_exist_are_errors_of_the_placement() -> None:
    with pytest.raises(ProgramError, match="a bank that has 4"):
        Q_TASK.start(federation=Federation({"main.rollout[2:9]": "a"}))


def test_agents_that_act_at_every_step_are_not_split() -> None:
    with pytest.raises(
        FlowError, match="federates must be 1 for IPPO, got 2"
    ) as raised:
        IPPO_TASK.check_federates(2)

    assert "every step" in str(raised.value)
    IPPO_TASK.check_federates(1)


def test_an_environment_that_fails_gives_the_error_of_one_process() -> None:
    task = tuned(Q_TASK, num_envs=8)
    errors = []
    for federation in (None, 2):
        with (
            pytest.raises(Exception, match="environment") as raised,
            replace(task, env=Breaking).start(federation=federation) as run,
        ):
            for _ in run.iterations():
                pass
        errors.append((type(raised.value), str(raised.value)))
    assert errors[0] == errors[1]
