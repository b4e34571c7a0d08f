# SPDX-License-Identifier: Apache-2.0
"""Normalization of rewards, and the limit of the KL divergence."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from reactorl.rl import PPO, FlowError
from reactorl.rl.algorithms.normalization import ReturnStatistics
from tests.rl.contract.tasks import PPO_TASK
from tests.rl.trained import trained, tuned


def test_return_statistics_equal_hand_computed_numbers() -> None:
    rewards = jnp.float32([[1, 4], [2, 0], [3, 2]])
    ended = jnp.array([[False, True], [True, False], [False, False]])

    found = ReturnStatistics.initial(2).updated(rewards, ended, gamma=0.5)

    # The first: 1, 2 + 1/2, then a new episode: 3. The second: 4, then 0, 2.
    due = np.array([[1, 4], [2.5, 0], [3, 2]])
    assert found.statistics.count == 6
    assert found.statistics.mean == pytest.approx(due.mean())
    assert found.statistics.variance == pytest.approx(due.var())
    np.testing.assert_array_equal(found.returns, [3, 2])
    again = found.updated(jnp.float32([[1, 1]]), ended[:1], gamma=0.5)
    both = np.append(due, [2.5, 2])
    assert again.statistics.variance == pytest.approx(both.var())
    np.testing.assert_array_equal(again.returns, [2.5, 0])


def test_rewards_are_divided_and_clipped() -> None:
    rewards = jnp.float32([[1, -1], [3, 1]])
    statistics = ReturnStatistics.initial(2)
    statistics = statistics._replace(
        statistics=statistics.statistics._replace(variance=jnp.float32(0.04))
    )

    found = statistics.normalized(rewards)
    np.testing.assert_allclose(found, [[5, -5], [10, 5]], rtol=1e-5)


def test_rewards_of_another_scale_give_the_same_training() -> None:
    task = tuned(PPO_TASK, norm_reward=True)

    weights, _ = trained(task)

    assert trained(tuned(task, reward_scale=7.0))[0] == weights
    assert trained(tuned(PPO_TASK, reward_scale=7.0))[0] != weights


def test_updates_end_when_the_kl_divergence_is_above_its_limit() -> None:
    eager = tuned(PPO_TASK, learning_rate=0.05, anneal_lr=False)
    _, free = trained(tuned(eager, target_kl=1e9))
    _, limited = trained(tuned(eager, target_kl=1e-4))

    # Two epochs of three minibatches. The first minibatch has a divergence of 0.
    assert all(r.metrics["losses/minibatches"] == 6 for r in free)
    counts = [r.metrics["losses/minibatches"] for r in limited]
    assert all(2 <= count < 6 for count in counts)
    without = trained(eager)
    assert trained(tuned(eager, target_kl=1e9))[0] == without[0]


def test_target_kl_must_be_positive() -> None:
    with pytest.raises(FlowError, match="target_kl must be above 0, or None, got 0"):
        PPO(target_kl=0.0)
