# SPDX-License-Identifier: Apache-2.0
"""The replay buffer: what is stored, what is drawn, and with which probability."""

from __future__ import annotations

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import FlowError, Spaces
from reactorl.rl.flow.replay import check_memory, sample_by_priority, sample_uniform
from tests.rl.contract.tasks import DQN_TASK
from tests.rl.trained import tuned


def random() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(1))


def test_uniform_sampling_draws_every_row() -> None:
    drawn = sample_uniform(random(), 5, (20, 50))

    assert drawn.shape == (20, 50)
    counts = np.bincount(drawn.reshape(-1), minlength=5)
    assert len(counts) == 5
    assert counts.min() > 150  # 200 expected


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_prioritized_sampling_draws_in_proportion_to_the_priorities(
    alpha: float,
) -> None:
    priorities = np.array([1.0, 4.0, 16.0])

    drawn, _ = sample_by_priority(
        random(), priorities, (100, 100), alpha=alpha, beta=0.4
    )

    probability = priorities**alpha / (priorities**alpha).sum()
    found = np.bincount(drawn.reshape(-1), minlength=3) / drawn.size
    np.testing.assert_allclose(found, probability, atol=0.015)


def test_importance_weights_equal_hand_computed_numbers() -> None:
    priorities = np.array([1.0, 3.0, 4.0])

    drawn, weights = sample_by_priority(
        random(), priorities, (10, 10), alpha=1.0, beta=0.5
    )

    # P is 1/8, 3/8, 4/8 of three rows: (3 P) ** -0.5, divided by the largest one, which
    # is that of the row drawn most rarely.
    assert set(drawn.reshape(-1).tolist()) == {0, 1, 2}
    expected = np.array([1.0, 1 / np.sqrt(3), 1 / 2])
    np.testing.assert_allclose(weights, expected[drawn], rtol=1e-12)


def test_td_errors_become_the_priorities_of_the_drawn_transitions() -> None:
    with tuned(DQN_TASK, priority=0.6).start() as run:
        for _ in range(3):
            run.step()
        parts = run.save()["parts"]
        run.step()
        after = run.save()["parts"]["main.replay"]
    drawn = parts["main.replay"]["drawn"]
    _, errors = parts["main.learner"]["errors"]

    # Of a transition that was drawn twice the last batch counts.
    expected = {}
    for indices, batch in zip(drawn, errors, strict=True):
        expected |= dict(zip(indices.tolist(), batch.tolist(), strict=True))
    assert expected
    for index, error in expected.items():
        assert after["priorities"][index] == pytest.approx(abs(error) + 1e-6)


def test_new_transitions_have_the_highest_priority_so_far() -> None:
    largest, count = 1.0, 0
    with tuned(DQN_TASK, priority=0.6).start() as run:
        for _ in range(4):
            run.step()
            parts = run.save()["parts"]
            replay = parts["main.replay"]
            assert replay["highest"] == pytest.approx(largest)
            assert (replay["priorities"][count:] == replay["highest"]).all()
            count = replay["count"]
            if parts["main.learner"]["errors"] is not None:
                _, errors = parts["main.learner"]["errors"]
                largest = max(largest, float(np.abs(errors).max()) + 1e-6)

    assert largest > 1.0  # the TD errors matter


def test_a_buffer_larger_than_the_memory_is_refused_with_its_size() -> None:
    images = gym.spaces.Box(0, 255, (84, 84, 4), np.uint8)
    spaces = Spaces(images, gym.spaces.Discrete(4))

    check_memory(1_000, spaces)
    # 28,224 bytes of pixels, 8 of the action, 26 of the rest.
    with pytest.raises(
        FlowError,
        match=r"at most [\d,]+ transitions of 28,258 bytes in .* GiB of memory, got "
        r"1,000,000,000\. Reduce buffer_size: this takes 26317\.\d GiB",
    ):
        check_memory(10**9, spaces)


def test_training_refuses_a_buffer_larger_than_the_memory() -> None:
    class Images(gym.Env[np.ndarray, int]):
        """Has large observations."""

        observation_space = gym.spaces.Box(0, 255, (1000, 1000, 4), np.uint8)
        action_space = gym.spaces.Discrete(2)

    task = replace(
        tuned(DQN_TASK, buffer_size=10**9, total_timesteps=10**9), env=Images
    )
    with pytest.raises(FlowError, match="replay capacity must be at most"):
        task.check()
    # What a short training fills does fit.
    replace(tuned(DQN_TASK, buffer_size=10**9), env=Images).check()
