# SPDX-License-Identifier: Apache-2.0
"""The replay buffer: what is stored, what is drawn, and with which probability."""

from __future__ import annotations

import numpy as np
import pytest

from reactorl.rl.flow.replay import sample_by_priority, sample_uniform
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
