# SPDX-License-Identifier: Apache-2.0
"""Policies: choices are drawn as often as they are likely, and become actions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from reactorl.rl import FlowError, Spaces
from reactorl.rl.algorithms import policy

SEES = spaces.Box(-1, 1, (3,))
LOGS = np.log(np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], np.float32))


def made(action: spaces.Space[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    random = np.random.Generator(np.random.PCG64(1))
    return policy.make(random, Spaces(SEES, action), (4,))


@pytest.mark.parametrize("xp", [np, jnp])
def test_discrete_log_probabilities_are_those_of_the_softmax(xp: Any) -> None:
    outputs = xp.asarray(LOGS + 3)  # only differences count

    found = policy.log_probs(outputs, None, xp.asarray([1, 2]), xp)
    entropies = policy.entropies(outputs, None, xp)

    np.testing.assert_allclose(found, np.log([0.25, 0.75]), rtol=1e-5)
    # In nats: 0.5 ln 2 + 0.5 ln 4, and 0.25 ln 8 + 0.75 ln 4/3.
    due = [1.5 * np.log(2), 0.25 * np.log(8) + 0.75 * np.log(4 / 3)]
    np.testing.assert_allclose(entropies, due, rtol=1e-5)


@pytest.mark.parametrize("xp", [np, jnp])
def test_continuous_log_probabilities_are_those_of_normal_distributions(
    xp: Any,
) -> None:
    means = xp.asarray([[0.0, 1.0]])
    log_std = xp.log(xp.asarray([1.0, 2.0]))

    found = policy.log_probs(means, log_std, xp.asarray([[1.0, 5.0]]), xp)
    entropies = policy.entropies(means, log_std, xp)

    # One deviation away and two: exp(-1/2) / sqrt(2 pi), exp(-2) / (2 sqrt(2 pi)).
    due = -0.5 - 2 - np.log(2) - np.log(2 * np.pi)
    np.testing.assert_allclose(found, [due], rtol=1e-5)
    # ln(deviation sqrt(2 pi e)) each.
    due = np.log(2) + np.log(2 * np.pi * np.e)
    np.testing.assert_allclose(entropies, [due], rtol=1e-5)


def test_sampling_frequencies_match_probabilities() -> None:
    random = np.random.Generator(np.random.PCG64(1))

    drawn = policy.sample(np.repeat(LOGS[:1], 20_000, axis=0), None, random)
    numbers = policy.sample(
        np.full((20_000, 1), 3, np.float32), np.log(np.float32([2])), random
    )

    shares = np.bincount(drawn, minlength=3) / len(drawn)
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.02)
    assert numbers.dtype == np.float32
    np.testing.assert_allclose(
        [numbers.mean(), numbers.std()], [3, 2], rtol=0, atol=0.05
    )


def test_greedy_choice_is_the_most_probable() -> None:
    assert policy.greedy(LOGS, None).tolist() == [0, 2]
    assert policy.greedy(LOGS, np.zeros(3)) is LOGS


def test_actions_are_scaled_and_clipped_to_the_bounds() -> None:
    box = spaces.Box(np.float32([[-2, 0, 1]]), np.float32([[2, 1, np.inf]]))
    params, limits = made(box)

    found = policy.actions(np.float32([[0.5, -1, 5], [3, 3, -3]]), limits)

    # Middle and half of the range where there is one; else only the bound counts.
    np.testing.assert_array_equal(found, [[[1, 0, 5]], [[2, 1, 1]]])
    assert found.dtype == np.float32
    assert all(action in box for action in found)
    assert params["log_std"].shape == params["actor"][-1]["b"].shape == (3,)


def test_discrete_actions_start_where_the_space_starts() -> None:
    params, limits = made(spaces.Discrete(3, start=5))

    assert policy.actions(np.array([0, 2]), limits).tolist() == [5, 7]
    assert "log_std" not in params
    assert params["actor"][-1]["b"].shape == (3,)
    assert params["critic"][-1]["b"].shape == (1,)


@pytest.mark.parametrize(
    ("sees", "does", "match"),
    [
        (
            SEES,
            spaces.MultiBinary(2),
            r"Discrete or Box for X, got MultiBinary\(2\)",
        ),
        (
            SEES,
            spaces.Box(0, 9, (1,), np.int64),
            "must be a Box of floats for X",
        ),
        (
            spaces.Text(5),
            spaces.Discrete(2),
            "must be numeric, got Text",
        ),
    ],
)
def test_unsupported_spaces_raise(sees: Any, does: Any, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        policy.check("X", Spaces(sees, does))
