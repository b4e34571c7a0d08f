# SPDX-License-Identifier: Apache-2.0
"""Action masks: obeyed in training and evaluation, part of trajectories and saves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from reactorl.rl import (
    DQN,
    IMPALA,
    IPPO,
    PPO,
    EnvError,
    Flow,
    MultiAgentFlow,
    QLearning,
)
from reactorl.rl.flow.action_masks import ActionMasks, MaskError, MaskReader
from tests.rl.masked import (
    Broken,
    Continuous,
    Late,
    Masked,
    MaskedPairs,
    MaskedParts,
    MaskedTeam,
    Short,
    Stuck,
    StuckTeam,
)
from tests.rl.trained import bits, same

SIZES: Any = {"num_envs": 4, "num_steps": 6, "total_timesteps": 4 * 6 * 8}
OPTIONS: Any = {"rollouts": 2, "eval_every": 24, "eval_episodes": 4}
PPO_SMALL = PPO(hidden=(8,), num_minibatches=2, update_epochs=1, **SIZES)
DQN_SMALL = DQN(hidden=(8,), buffer_size=100, batch_size=8, learning_starts=24, **SIZES)
IPPO_SMALL = IPPO(hidden=(8,), num_minibatches=2, update_epochs=1, **SIZES)
TASKS: dict[str, Any] = {
    "ppo": Flow(Masked, PPO_SMALL, **OPTIONS),
    "ppo, two components": Flow(MaskedPairs, PPO_SMALL, **OPTIONS),
    "ppo, parts": Flow(MaskedParts, PPO_SMALL, **OPTIONS),
    "impala": Flow(Masked, IMPALA(hidden=(8,), num_minibatches=1, **SIZES), **OPTIONS),
    "dqn": Flow(Masked, DQN_SMALL, **OPTIONS),
    "q-learning": Flow(Masked, QLearning(**SIZES), **OPTIONS),
    "ippo": MultiAgentFlow(MaskedTeam, IPPO_SMALL, eval_every=24, eval_episodes=4),
}


@pytest.mark.parametrize("name", TASKS)
def test_masks_are_obeyed_with_bit_identical_results(name: str) -> None:
    """The environment fails if an action is not allowed, in evaluations as well."""
    task = TASKS[name]
    with task.start(workers=1) as run:
        iterations = list(run.iterations())
        expected = run.save(), bits(run.weights)
    assert any(each.evaluation for each in iterations)

    with task.start(workers=2) as run:
        for _ in range(3):
            run.step()
        saved = run.save()
    with task.start(workers=2, saved=saved) as run:
        list(run.iterations())
        assert same(run.save(), expected[0])
        assert bits(run.weights) == expected[1]
    if name == "ippo":
        assert saved["parts"]["main.world[0]"]["masks"]
    else:
        assert "masks" in saved["parts"]["main.rollout[0]"]["envs"]


def test_masks_of_worker_processes_and_of_threads_are_equal() -> None:
    found = set()
    for placement in ("thread", "process"):
        task = Flow(Masked, PPO_SMALL, placement=placement, **OPTIONS)
        found.add(bits(task.run(workers=2)))
    assert len(found) == 1


def test_masks_after_a_restart_are_those_of_the_reset() -> None:
    task = Flow(Broken, PPO_SMALL, env_restart="reset", **OPTIONS)
    with task.start(workers=1) as run:
        iterations = list(run.iterations())
    assert sum(len(each.episodes) for each in iterations) > 20


def test_trajectories_have_the_masks_of_both_observations() -> None:
    with TASKS["dqn"].start() as run:
        run.step()
        columns = run.save()["parts"]["main.rollout[0]"]["sent"]["columns"]
    masks, after = columns["action_masks"], columns["next_action_masks"]

    assert masks.shape == after.shape == (6, 2, 5)
    chosen = np.take_along_axis(masks, columns["actions"][..., None], axis=2)
    assert chosen.all()
    ended = columns["terminations"] | columns["truncations"]
    assert ended.any()
    for step in range(5):
        for env in range(2):
            is_same = np.array_equal(after[step, env], masks[step + 1, env])
            assert is_same or ended[step, env]
    # The mask at a terminal observation forbids everything: it does not count.
    assert after[columns["terminations"]].all()


def test_environments_without_masks_have_no_columns_for_them() -> None:
    with Flow("CartPole-v1", PPO_SMALL, **OPTIONS).start() as run:
        run.step()
        saved = run.save()["parts"]["main.rollout[0]"]
    assert "action_masks" not in saved["sent"]["columns"]
    assert "masks" not in saved["envs"]


@pytest.mark.parametrize(
    ("env", "match"),
    [
        (Stuck, r"environment \d .*Stuck.* in step 2.*must allow at least one action"),
        (Short, r"environment 0 .*Short.*must have 5 entries for Discrete.*, got 4"),
        (Late, r"environment \d .*Late.* step 1.*in the infos of resets as well"),
        (Continuous, r"environment 0 .*unless the action space is Discrete or Multi"),
    ],
)
def test_invalid_masks_name_environment_and_step(env: Any, match: str) -> None:
    with pytest.raises(EnvError, match=match):
        Flow(env, PPO_SMALL, **OPTIONS).run(workers=1)


def test_policies_of_agents_do_not_see_the_mask() -> None:
    spaces_ = TASKS["ippo"].agent_spaces
    assert {each.observation.shape for each in spaces_.values()} == {(2,)}


def test_an_invalid_mask_of_an_agent_names_it() -> None:
    task = MultiAgentFlow(StuckTeam, IPPO_SMALL, eval_every=0)
    match = r"environment \d .* in step 1.*agent 'right': .*at least one action"
    with pytest.raises(EnvError, match=match):
        task.run(workers=1)


# -- reading masks --------------------------------------------------------------------


def test_masks_of_components_are_concatenated() -> None:
    reader = MaskReader(spaces.MultiDiscrete([[2], [3]]))
    due = [True, False, False, True, True]
    parts: list[Any] = [
        ([1, 0], [0, 1, 1]),
        np.array([1, 0, 0, 1, 1]),
        ((np.array([1, 0]),), (np.array([0, 1, 1]),)),
    ]
    for mask in parts:
        assert reader.read(mask).tolist() == due
    assert reader.read(None).all()
    with pytest.raises(MaskError, match="must allow at least one action"):
        reader.read(([0, 0], [1, 1, 1]))


PARTS = spaces.Dict(
    a=spaces.Discrete(2),
    b=spaces.Tuple((spaces.Box(0, 1), spaces.MultiDiscrete([2, 3]))),
)


def test_masks_of_parts_have_the_structure_of_the_space() -> None:
    reader = MaskReader(PARTS)
    some: Any = {"a": [0, 1], "b": (None, ([1, 0], [0, 1, 1]))}
    due = [False, True, True, False, False, True, True]

    assert reader.read(some).tolist() == due
    assert reader.read(np.array(due)).tolist() == due  # one array for all
    assert reader.read({"b": None, "a": [0, 1]}).tolist() == [False] + [True] * 6
    assert reader.read_last({"a": [0, 0]}).all()


@pytest.mark.parametrize(
    ("mask", "match"),
    [
        ({"a": [0, 0]}, "must allow at least one action"),
        ({"a": [1, 1, 1]}, r"must have 2 entries for Discrete\(2\), got 3"),
        ({"c": [1, 1]}, "must have the structure of Dict"),
        ([1, 1], "must have the structure of Dict"),
        ({"b": ([1], None)}, "must be None for Box"),
        ({"b": (None,)}, "must have the structure of Tuple"),
        (np.ones(6), "must have 7 entries for Dict"),
    ],
)
def test_masks_of_another_structure_are_refused(mask: Any, match: str) -> None:
    with pytest.raises(MaskError, match=match):
        MaskReader(PARTS).read(mask)


def test_a_step_without_a_mask_allows_all_actions() -> None:
    masks = ActionMasks(spaces.Discrete(2), 2)
    masks.begin({}, [0, 1])
    assert masks.rows is None
    masks.begin({1: {"action_mask": [0, 1]}}, [0, 1])
    first = masks.rows
    masks.step({0: {"action_mask": [1, 0]}}, [0, 1])

    assert first is not None
    assert first.tolist() == [[True, True], [False, True]]
    assert masks.rows is not None
    assert masks.rows.tolist() == [[True, False], [True, True]]
    masks.step({}, [0])
    assert masks.rows.tolist() == [[True, True], [True, True]]
