# SPDX-License-Identifier: Apache-2.0
"""IMPALA: V-trace and updates by hand, and its return."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reactorl.rl import IMPALA, FlowError, Spaces
from reactorl.rl.algorithms.vtrace import vtrace
from tests.rl.contract.tasks import IMPALA_TASK
from tests.rl.trained import lasting, mean_return, trained, tuned


def test_learning_rate_is_annealed_linearly() -> None:
    _, annealed = trained(IMPALA_TASK)
    _, constant = trained(tuned(IMPALA_TASK, anneal_lr=False))

    found = [
        [r.metrics["charts/learning_rate"] for r in run if r.metrics is not None]
        for run in (annealed, constant)
    ]
    # With a lag the trajectories of the last iteration are not learned from.
    expected = [1e-3 * left / 7 for left in (7, 6, 5, 4, 3, 2)]
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found[1], [1e-3] * 6, rtol=1e-6)


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_learner_is_ahead_of_rollouts_by_the_lag(lag: int) -> None:
    _, iterations = trained(tuned(IMPALA_TASK, lag=lag))

    def is_ahead(metrics: dict[str, float]) -> bool:
        return abs(metrics["losses/ratio"] - 1) > 1e-5

    # With a lag, trajectories arrive one iteration later. Rollouts act with the initial
    # weights until the first update has come back.
    found = [is_ahead(r.metrics) for r in iterations if r.metrics is not None]
    assert found == [False] * 7 if lag == 0 else [False] + [True] * 5


# -- by hand ------------------------------------------------------------------------

REWARDS = np.float32([[1], [2], [3]])
VALUES = np.float32([[1], [2], [4]])


@pytest.mark.parametrize(
    ("ratios", "ends", "options", "targets", "advantages"),
    [
        # The rollout's own weights: targets are discounted returns, from the back
        # 3 + 8 / 2 = 7, 2 + 7 / 2 = 5.5, 1 + 5.5 / 2 = 3.75.
        ([1, 1, 1], "", {}, [3.75, 5.5, 7], [2.75, 3.5, 3]),
        # Ratios count as 1, 0.5, 1. Surprises, 1, 2, 3 in themselves, as 1, 1, 3.
        # From the back 3, 1 + 3 / 4 = 1.75, 1 + 1.75 / 2 = 1.875 above values. Better
        # by 1 (1 + 3.75 / 2 - 1), 0.5 (2 + 7 / 2 - 2), and 3.
        ([2, 0.5, 1], "", {}, [2.875, 3.75, 7], [1.875, 1.75, 3]),
        # The first surprise counts twice, but what comes later no more than once.
        ([2, 0.5, 1], "", {"clip_rho": 2}, [3.875, 3.75, 7], [3.75, 1.75, 3]),
        # What comes later counts twice for the first step, its own surprise once.
        ([2, 0.5, 1], "", {"clip_c": 2}, [3.75, 3.75, 7], [1.875, 1.75, 3]),
        # What comes later counts by half of a half.
        (
            [1, 1, 1],
            "",
            {"vtrace_lambda": 0.5},
            [1 + 1.6875, 2 + 2.75, 7],
            [2.375, 3.5, 3],
        ),
        # The second step ended the episode, whatever the observation is worth.
        ([1, 1, 1], "terminated", {}, [2, 2, 7], [1, 0, 3]),
        # It was cut off there, at what is worth 6.
        ([1, 1, 1], "truncated", {}, [3.5, 5, 7], [2.5, 3, 3]),
    ],
)
def test_vtrace_equals_hand_computed_numbers(
    ratios: list[float],
    ends: str,
    options: dict[str, float],
    targets: list[float],
    advantages: list[float],
) -> None:
    next_values = np.float32([[2], [6 if ends else 4], [8]])
    second = np.array([[False], [True], [False]])

    found = vtrace(
        np.float32(ratios)[:, None],
        VALUES,
        next_values,
        REWARDS,
        second & (ends == "terminated"),
        second & (ends == "truncated"),
        gamma=0.5,
        **options,
    )

    np.testing.assert_array_equal(found[0][:, 0], targets)
    np.testing.assert_array_equal(found[1][:, 0], advantages)


HAND = IMPALA(
    hidden=(),
    learning_rate=0.1,
    gamma=0.5,
    reward_scale=0.5,
    vtrace_lambda=1.0,
    num_minibatches=1,
    ent_coef=0.01,
)
BATCH = {
    "observations": np.float32([[[1, 0], [0, 1]]]),
    "next_observations": np.float32([[[5, 5], [5, 5]]]),
    "choices": np.array([[0, 1]]),
    "log_probs": np.log(np.float32([[0.25, 1]])),
    "rewards": np.float32([[6, 0]]),
    "terminations": np.array([[True, False]]),
    "truncations": np.array([[False, True]]),
}


def initial_state() -> Any:
    """Return a state with networks of one layer, whose values are all 2."""
    spaces = Spaces(gym.spaces.Box(-9, 9, (2,)), gym.spaces.Discrete(2))
    params = {
        "actor": [{"w": np.zeros((2, 2), np.float32), "b": np.zeros(2, np.float32)}],
        "critic": [{"w": np.zeros((2, 1), np.float32), "b": np.float32([2])}],
    }
    params = jax.tree.map(jnp.asarray, params)
    state = HAND.init(spaces, seed=1)
    return state._replace(params=params, optimiser=HAND._optimiser.init(params))


def test_gradient_equals_hand_computed_numbers() -> None:
    state = initial_state()

    gradient = jax.value_and_grad(HAND.loss, has_aux=True)
    (loss, _), found = gradient(state.params, BATCH, state.constants)

    # As below: advantages 1 and -0.5, targets 3 and 1.5 where values are 2.
    due = np.log(2) / 4 - 0.01 * np.log(2) + 0.5 * (1 + 0.25) / 4
    assert loss == pytest.approx(due)
    # More of an output makes its action likelier by a half of that, and the other one
    # less likely; of two steps, each counts half. Nothing comes by way of ratios or of
    # targets.
    actor, critic = found["actor"][0], found["critic"][0]
    near = {"rtol": 1e-5, "atol": 1e-7}
    due = [[-0.25, 0.25], [-0.125, 0.125]]
    np.testing.assert_allclose(actor["w"], due, **near)
    np.testing.assert_allclose(actor["b"], [-0.375, 0.375], **near)
    np.testing.assert_allclose(critic["w"], [[-0.25], [0.125]], **near)
    np.testing.assert_allclose(critic["b"], [-0.125], **near)


@pytest.mark.parametrize(("progress", "step"), [(0.0, 0.1), (0.25, 0.075)])
def test_first_update_equals_hand_computed_numbers(
    progress: float, step: float
) -> None:
    """One step of two environments, with a layer each: all can be written down."""
    batch = {**BATCH, "progress": np.full((1, 2), progress)}

    after, metrics, errors = HAND.update(initial_state(), [batch])

    # Both actions have a chance of a half; the rollout gave them a quarter and all:
    # ratios are 2, which counts as 1, and 0.5. All is worth 2. The first ended with
    # half of 6: one better. The second was cut off at what is worth 2, half of that
    # now: one worse, which counts half. Targets are 3 and 1.5.
    assert errors is None
    assert metrics["losses/ratio"] == pytest.approx(1.25)
    assert metrics["losses/clipfrac"] == pytest.approx(0.5)
    assert metrics["losses/policy_loss"] == pytest.approx(np.log(2) * (1 - 0.5) / 2)
    assert metrics["losses/value_loss"] == pytest.approx((1 + 0.25) / 4)
    assert metrics["losses/entropy"] == pytest.approx(np.log(2))
    assert metrics["charts/learning_rate"] == pytest.approx(step)
    # Action 0 becomes likelier for both; values higher for the first, lower for the
    # second, and higher on the whole. Adam's first step is as long as the learning
    # rate, whatever the gradient.
    actor, critic = after.params["actor"][0], after.params["critic"][0]
    near = {"rtol": 1e-3, "atol": 1e-6}
    np.testing.assert_allclose(actor["w"], [[step, -step], [step, -step]], **near)
    np.testing.assert_allclose(actor["b"], [step, -step], **near)
    np.testing.assert_allclose(critic["w"], [[step], [-step]], **near)
    np.testing.assert_allclose(critic["b"], [2 + step], **near)
    # The gradient was cut to a length of 0.5, and a tenth of it is remembered.
    kept = [np.sum(leaf**2) for leaf in jax.tree.leaves(after.optimiser[1].mu)]
    assert np.sqrt(sum(kept)) == pytest.approx(0.05, rel=1e-5)


class Writing(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(0, 1)
    action_space = gym.spaces.Text(3)


def test_unsupported_action_space_raises() -> None:
    with pytest.raises(FlowError, match=r"must be Discrete, .* for IMPALA, got Text"):
        replace(IMPALA_TASK, env=Writing).check()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"num_minibatches": 0}, "num_minibatches must be at least 1, got 0"),
        (
            {"num_minibatches": 3, "num_envs": 8},
            "num_envs must be divisible by num_minibatches, got num_envs=8, num_mini",
        ),
    ],
)
def test_invalid_hyper_parameters_raise(change: dict[str, Any], match: str) -> None:
    with pytest.raises(FlowError, match=match):
        IMPALA(**change)


# -- return -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("lag", [0, 1, 3])
def test_impala_solves_cartpole_with_a_lag(lag: int) -> None:
    task = lasting(IMPALA(lag=lag).task("CartPole-v1"), 500)
    assert mean_return(task) >= 400
