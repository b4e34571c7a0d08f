# SPDX-License-Identifier: Apache-2.0
"""Distributions over actions: closed forms, sampling, masks, and valid actions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl.rl import FlowError, Spaces
from reactorl.rl.algorithms import policy
from reactorl.rl.algorithms.distributions import constants_of, distribution, sizes_of
from reactorl.rl.flow.action_encoding import ActionDecoder
from tests.rl.spaces import action_spaces

SEES = spaces.Box(-1, 1, (3,))
LOGS = np.log(np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], np.float32))
BOTH = pytest.mark.parametrize("xp", [np, jnp])


def generator(seed: int = 1) -> Any:
    return np.random.Generator(np.random.PCG64(seed))


def over(space: Any, outputs: Any, log_std: Any = None, mask: Any = None) -> Any:
    return distribution(constants_of(space), outputs, log_std, mask, np)


def in_jax(space: Any, outputs: Any, log_std: Any = None, mask: Any = None) -> Any:
    constants = jax.tree.map(jnp.asarray, constants_of(space))
    log_std = None if log_std is None else jnp.asarray(log_std)
    mask = None if mask is None else jnp.asarray(mask)
    return distribution(constants, jnp.asarray(outputs), log_std, mask, jnp)


MAKERS = {np: over, jnp: in_jax}


# -- closed forms ---------------------------------------------------------------------


@BOTH
def test_discrete_log_probabilities_are_those_of_the_softmax(xp: Any) -> None:
    # Only differences of logits count.
    found = MAKERS[xp](spaces.Discrete(3), LOGS + 3)

    logs = found.log_probs(xp.asarray([1, 2]))
    np.testing.assert_allclose(logs, np.log([0.25, 0.75]), rtol=1e-5)
    # In nats: 0.5 ln 2 + 0.5 ln 4, and 0.25 ln 8 + 0.75 ln 4/3.
    due = [1.5 * np.log(2), 0.25 * np.log(8) + 0.75 * np.log(4 / 3)]
    np.testing.assert_allclose(found.entropies(), due, rtol=1e-5)


@BOTH
def test_continuous_log_probabilities_are_those_of_normal_distributions(
    xp: Any,
) -> None:
    box = spaces.Box(-1, 1, (2,))
    found = MAKERS[xp](box, np.float32([[0, 1]]), np.log(np.float32([1, 2])))

    # One deviation away and two: exp(-1/2) / sqrt(2 pi), exp(-2) / (2 sqrt(2 pi)).
    due = -0.5 - 2 - np.log(2) - np.log(2 * np.pi)
    np.testing.assert_allclose(
        found.log_probs(xp.asarray([[1.0, 5.0]])), [due], rtol=1e-5
    )
    # ln(deviation sqrt(2 pi e)) each.
    due = np.log(2) + np.log(2 * np.pi * np.e)
    np.testing.assert_allclose(found.entropies(), [due], rtol=1e-5)


@BOTH
def test_multi_discrete_components_are_independent(xp: Any) -> None:
    outputs = np.log(np.float32([[0.2, 0.8, 0.5, 0.25, 0.25]]))
    found = MAKERS[xp](spaces.MultiDiscrete([2, 3]), outputs)

    logs = found.log_probs(xp.asarray([[1, 2]]))
    np.testing.assert_allclose(logs, [np.log(0.8 * 0.25)], rtol=1e-5)
    due = -0.2 * np.log(0.2) - 0.8 * np.log(0.8) + 1.5 * np.log(2)
    np.testing.assert_allclose(found.entropies(), [due], rtol=1e-5)


@BOTH
def test_bits_are_independent(xp: Any) -> None:
    ones = np.float32([[0.9, 0.25]])
    found = MAKERS[xp](spaces.MultiBinary(2), np.log(ones / (1 - ones)))

    logs = found.log_probs(xp.asarray([[1, 0]]))
    np.testing.assert_allclose(logs, [np.log(0.9 * 0.75)], rtol=1e-5)
    due = -sum(p * np.log(p) for p in (0.9, 0.1, 0.25, 0.75))
    np.testing.assert_allclose(found.entropies(), [due], rtol=1e-5)
    extreme = MAKERS[xp](spaces.MultiBinary(2), np.float32([[200, -200]]))
    np.testing.assert_allclose(extreme.entropies(), [0], atol=1e-6)
    np.testing.assert_allclose(extreme.log_probs(xp.asarray([[0, 0]])), [-200])


@BOTH
def test_parts_of_a_dict_are_independent(xp: Any) -> None:
    space = spaces.Dict(
        a=spaces.Discrete(2, start=5),
        b=spaces.Box(-1, 1, (1,)),
        c=spaces.MultiBinary(1),
    )
    outputs = np.float32([[np.log(0.25), np.log(0.75), 2, 0]])
    found = MAKERS[xp](space, outputs, np.float32([0]))

    logs = found.log_probs(xp.asarray([[1.0, 3.0, 1.0]]))
    due = np.log(0.75) + (-0.5 - 0.5 * np.log(2 * np.pi)) + np.log(0.5)
    np.testing.assert_allclose(logs, [due], rtol=1e-5)
    parts = -0.25 * np.log(0.25) - 0.75 * np.log(0.75), 0.5 * np.log(2 * np.pi * np.e)
    np.testing.assert_allclose(found.entropies(), [sum(parts) + np.log(2)], rtol=1e-5)
    assert sizes_of(constants_of(space)) == (4, 1, 3)


# -- sampling -------------------------------------------------------------------------


def test_sampling_frequencies_match_probabilities() -> None:
    random, count = generator(), 20_000

    drawn = over(spaces.Discrete(3), np.repeat(LOGS[:1], count, 0)).sample(random)
    means = np.full((count, 1), 3, np.float32)
    numbers = over(spaces.Box(0, 1), means, np.log(np.float32([2]))).sample(random)
    logits = np.log(np.float32([[0.2, 0.8, 0.5, 0.25, 0.25]]))
    many = over(spaces.MultiDiscrete([2, 3]), np.repeat(logits, count, 0))
    pairs = many.sample(random)
    ones = over(
        spaces.MultiBinary(2), np.tile(np.float32([0, np.log(9)]), (count, 1))
    ).sample(random)

    shares = np.bincount(drawn, minlength=3) / count
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.02)
    assert numbers.dtype == np.float32
    np.testing.assert_allclose([numbers.mean(), numbers.std()], [3, 2], atol=0.05)
    shares = np.bincount(pairs[:, 0] * 3 + pairs[:, 1], minlength=6) / count
    due = np.outer([0.2, 0.8], [0.5, 0.25, 0.25]).reshape(-1)
    np.testing.assert_allclose(shares, due, atol=0.02)
    np.testing.assert_allclose(ones.mean(axis=0), [0.5, 0.9], atol=0.02)


def test_greedy_choice_is_the_most_probable() -> None:
    assert over(spaces.Discrete(3), LOGS).greedy().tolist() == [0, 2]
    box = over(spaces.Box(0, 1, (3,)), LOGS, np.zeros(3, np.float32))
    assert box.greedy() is LOGS
    pairs = over(spaces.MultiDiscrete([1, 2]), LOGS).greedy()
    assert pairs.tolist() == [[0, 0], [0, 1]]
    bits = over(spaces.MultiBinary(3), np.float32([[-1, 2, 0.1]])).greedy()
    assert bits.tolist() == [[0, 1, 1]]


# -- masks ----------------------------------------------------------------------------


@BOTH
def test_masked_actions_have_no_probability(xp: Any) -> None:
    mask = np.array([[True, False, True], [False, True, False]])
    found = MAKERS[xp](spaces.Discrete(3), LOGS, None, mask)

    # Of 0.5 and 0.25 the first is two thirds; a single action is certain.
    logs = found.log_probs(xp.asarray([0, 1]))
    np.testing.assert_allclose(logs, [np.log(2 / 3), 0], rtol=1e-5, atol=1e-7)
    due = -(2 / 3) * np.log(2 / 3) - (1 / 3) * np.log(1 / 3)
    np.testing.assert_allclose(found.entropies(), [due, 0], rtol=1e-5)


def test_masked_actions_are_neither_sampled_nor_greedy() -> None:
    random = generator()
    mask = np.tile([[False, True, True]], (2_000, 1))
    logits = np.tile(np.float32([[50, 0, 0]]), (2_000, 1))
    found = over(spaces.Discrete(3), logits, None, mask)

    assert set(found.sample(random).tolist()) == {1, 2}
    assert set(found.greedy().tolist()) == {1}
    both = over(
        spaces.MultiDiscrete([2, 1]),
        logits,
        None,
        np.tile([[False, True, True]], (2_000, 1)),
    )
    assert set(map(tuple, both.sample(random).tolist())) == {(1, 0)}
    assert set(map(tuple, both.greedy().tolist())) == {(1, 0)}


@BOTH
def test_parts_of_a_tuple_have_masks_of_their_own(xp: Any) -> None:
    space = spaces.Tuple(
        (spaces.MultiBinary(1), spaces.Discrete(2), spaces.MultiDiscrete([2, 2]))
    )
    outputs = np.zeros((1, 7), np.float32)
    mask = np.array([[False, True, True, True, True, False]])
    found = MAKERS[xp](space, outputs, None, mask)

    # Only the bit and the first component are free.
    logs = found.log_probs(xp.asarray([[1.0, 1, 0, 0]]))
    np.testing.assert_allclose(logs, [2 * np.log(0.5)], rtol=1e-6)
    np.testing.assert_allclose(found.entropies(), [2 * np.log(2)], rtol=1e-6)
    forbidden = found.log_probs(xp.asarray([[1.0, 0, 0, 0]]))
    assert float(forbidden[0]) < -1e8


def test_gradients_of_masked_logits_are_zero_and_finite() -> None:
    mask = np.array([[True, False, True]])

    def entropy(outputs: Any) -> Any:
        return in_jax(spaces.Discrete(3), outputs, None, mask).entropies().sum()

    def log_prob(outputs: Any) -> Any:
        actions = in_jax(spaces.Discrete(3), outputs, None, mask)
        return actions.log_probs(jnp.asarray([2])).sum()

    for measure in (entropy, log_prob):
        found = np.asarray(jax.grad(measure)(jnp.asarray(LOGS[:1])))
        assert np.isfinite(found).all()
        assert found[0, 1] == 0
        assert found[0, 0] != 0


# -- actions of the space -------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(action_spaces, st.integers(0, 1000))
def test_actions_are_contained_in_the_space(space: Any, seed: int) -> None:
    random = generator(seed)
    outputs, deviations, count = sizes_of(constants_of(space))
    rows = random.standard_normal((4, outputs), np.float32) * np.float32(20)
    log_std = np.ones(deviations, np.float32) if deviations else None
    found = over(space, rows, log_std)

    for choices in (found.sample(random), found.greedy()):
        assert choices.reshape(4, -1).shape == (4, count)
        encoded = found.actions(choices)
        decoded = ActionDecoder(space).batch(encoded)
        assert len(decoded) == 4
        assert all(space.contains(action) for action in decoded), (space, decoded)
        logs = found.log_probs(choices)
        assert logs.shape == found.entropies().shape == (4,)
        assert np.isfinite(logs).all()
        compiled = in_jax(space, rows, log_std)
        np.testing.assert_allclose(
            compiled.log_probs(jnp.asarray(choices)), logs, rtol=1e-4, atol=1e-4
        )
        np.testing.assert_allclose(
            compiled.entropies(), found.entropies(), rtol=1e-4, atol=1e-4
        )


def test_actions_are_scaled_and_clipped_to_the_bounds() -> None:
    low, high = [[-2, 0, 1, -np.inf]], [[2, 1, np.inf, 4]]
    box = spaces.Box(np.float32(low), np.float32(high))
    found = over(box, np.zeros((2, 4), np.float32), np.zeros(4, np.float32))

    actions = found.actions(np.float32([[0.5, -1, 5, 0], [3, 3, -3, 2]]))

    # Middle and half of the range; a range with one bound is 2 wide.
    np.testing.assert_array_equal(actions, [[[1, 0, 7, 3]], [[2, 1, 1, 4]]])
    assert actions.dtype == np.float32
    assert all(action in box for action in actions)


def test_bounds_near_the_largest_number() -> None:
    large = np.finfo(np.float32).max
    box = spaces.Box(np.float32([-large]), np.float32([large]))
    found = over(box, np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
    assert found.actions(np.float32([[0.5]]))[0, 0] == np.float32(large) / 2


def test_decoded_actions_begin_where_the_space_begins() -> None:
    decoder = ActionDecoder(spaces.Discrete(3, start=2**40))
    assert decoder.batch(np.array([0, 2])).tolist() == [2**40, 2**40 + 2]
    many = ActionDecoder(spaces.MultiDiscrete([[2], [3]], start=[[5], [-1]]))
    assert many.batch(np.array([[1, 2]])).tolist() == [[[6], [1]]]
    space = spaces.Tuple((spaces.Discrete(2, start=7), spaces.Box(0, 1, (2,))))
    [(index, numbers)] = ActionDecoder(space).batch(np.array([[1, 0.5, 1]]))
    assert (index, numbers.tolist()) == (8, [0.5, 1])
    assert numbers.dtype == np.float32


def test_networks_have_an_output_for_each_number_of_the_distribution() -> None:
    asked: list[tuple[tuple[int, ...], int]] = []

    def init(_: Any, shape: tuple[int, ...], outputs: int) -> dict[str, Any]:
        asked.append((shape, outputs))
        return {"actor": {}, "critic": {}}

    params, _ = policy.make(generator(), Spaces(SEES, spaces.Discrete(3)), init)
    assert "log_std" not in params
    box = spaces.Box(0, 1, (2, 2))
    params, _ = policy.make(generator(), Spaces(SEES, box), init)
    assert params["log_std"].shape == (4,)
    assert asked == [(SEES.shape, 3), (SEES.shape, 4)]


@pytest.mark.parametrize(
    ("sees", "does", "match"),
    [
        (
            SEES,
            spaces.Text(3),
            "must be Discrete, Box, MultiDiscrete or MultiBinary, or a Dict or Tuple "
            "of these for X, got Text.*Use a wrapper",
        ),
        (SEES, spaces.Box(0, 9, (1,), np.int64), "must be a Box of floats for X"),
        (SEES, spaces.Tuple((spaces.Graph(SEES, None),)), "for X, got Tuple.Graph"),
        (SEES, spaces.Tuple(()), "at least one part for X"),
        (spaces.Sequence(SEES), spaces.Discrete(2), "got Sequence"),
        (spaces.Discrete(100_001), spaces.Discrete(2), "at most 100000 .* for X"),
    ],
)
def test_unsupported_spaces_raise(sees: Any, does: Any, match: str) -> None:
    with pytest.raises(FlowError, match=match):
        policy.check("X", Spaces(sees, does))
