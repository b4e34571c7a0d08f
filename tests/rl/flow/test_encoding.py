# SPDX-License-Identifier: Apache-2.0
"""Observations as arrays: compact in trajectories, one-hot for networks."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl.rl import FlowError
from reactorl.rl.flow.encoding import Encoder, network_input
from tests.rl.spaces import observation_spaces


def flattened(space: spaces.Space[Any], value: Any) -> list[float]:
    """Return what a network is to read, computed one number at a time."""
    if isinstance(space, spaces.Dict):
        return [x for k, sub in space.items() for x in flattened(sub, value[k])]
    if isinstance(space, spaces.Tuple):
        pairs = zip(space.spaces, value, strict=True)
        return [x for sub, part in pairs for x in flattened(sub, part)]
    if isinstance(space, spaces.Discrete):
        return [float(space.start + k == value) for k in range(int(space.n))]
    if isinstance(space, spaces.MultiDiscrete):
        counts, starts = space.nvec.reshape(-1), space.start.reshape(-1)
        each = zip(counts, starts, value.reshape(-1), strict=True)
        return [float(s + k == v) for n, s, v in each for k in range(n)]
    if isinstance(space, spaces.Text):
        characters = [*sorted(space.character_set), None]  # None: no character
        padded = [*value, *[None] * (space.max_length - len(value))]
        return [float(c == other) for c in padded for other in characters]
    numbers = [float(np.float32(x)) for x in value.reshape(-1)]
    if space.dtype == np.uint8 and space.high.max() == 255:  # type: ignore[attr-defined]
        return [float(np.float32(x) * np.float32(1 / 255)) for x in numbers]
    return numbers


@settings(max_examples=150, deadline=None)
@given(observation_spaces, st.integers(0, 1000))
def test_networks_read_one_hot_vectors_and_numbers(space: Any, seed: int) -> None:
    space.seed(seed)
    values = [space.sample() for _ in range(3)]
    out = create_empty_array(space, 3, np.zeros)
    encoder = Encoder(space)

    rows = encoder.batch(concatenate(space, values, out))
    read = network_input(encoder.one_hot, rows, np)

    assert rows.shape == (3, *encoder.shape)
    assert rows.dtype == encoder.dtype
    for value, row in zip(values, rows, strict=True):
        one = encoder.one(value)
        assert one.dtype == row.dtype
        np.testing.assert_array_equal(one, row)
    assert read.dtype == np.float32
    assert read.shape == (3, *encoder.input_shape)
    due = [flattened(space, value) for value in values]
    np.testing.assert_array_equal(read.reshape(3, -1), np.float32(due))


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(4, start=7),
        spaces.MultiDiscrete([2, 3]),
        spaces.Tuple((spaces.MultiBinary(2), spaces.Discrete(3))),
        spaces.Dict(a=spaces.Discrete(2), b=spaces.Box(-1, 1, (2,))),
        spaces.Box(0, 255, (4, 4, 3), np.uint8),
    ],
)
def test_jax_and_numpy_read_the_same(space: Any) -> None:
    space.seed(1)
    encoder = Encoder(space)
    rows = np.stack([encoder.one(space.sample()) for _ in range(5)])
    constants = {name: jnp.asarray(v) for name, v in encoder.one_hot.items()}

    found = network_input(constants, jnp.asarray(rows), jnp)

    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, network_input(encoder.one_hot, rows, np))


def test_encoded_observations_are_compact() -> None:
    image = spaces.Box(0, 255, (84, 84, 4), np.uint8)
    assert Encoder(image).dtype == np.uint8
    assert Encoder(spaces.Discrete(500)).shape == ()
    assert Encoder(spaces.Discrete(500)).dtype == np.int32
    assert Encoder(spaces.Discrete(500)).input_shape == (500,)
    # Not an image: its numbers must not be divided by 255.
    assert Encoder(spaces.Box(0, 10, (7, 7, 3), np.uint8)).dtype == np.float32
    assert Encoder(spaces.Box(-1, 1, (3,), np.float64)).dtype == np.float32


def test_counts_of_finite_spaces_and_their_indices() -> None:
    space = spaces.Tuple(
        (
            spaces.Discrete(3, start=2),
            spaces.MultiDiscrete([2, 4]),
            spaces.MultiBinary(2),
        )
    )
    encoder = Encoder(space)

    assert encoder.counts == (3, 2, 4, 2, 2)
    found = encoder.one((np.int64(4), np.array([1, 3]), np.array([0, 1], np.int8)))
    assert found.tolist() == [2, 1, 3, 0, 1]
    assert found.dtype == np.int32
    assert Encoder(spaces.Box(0, 1)).counts is None


def test_text_is_padded_with_the_size_of_the_character_set() -> None:
    encoder = Encoder(spaces.Text(4, charset="cab"))
    assert encoder.one("bca").tolist() == [1, 2, 0, 3]
    assert encoder.counts == (4, 4, 4, 4)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Sequence(spaces.Box(0, 1)),
        spaces.Graph(spaces.Box(0, 1), None),
        spaces.OneOf([spaces.Box(0, 1), spaces.Discrete(2)]),
    ],
)
def test_spaces_of_variable_size_are_refused_by_name(space: Any) -> None:
    match = rf"must be Box, Discrete, .*, got {type(space).__name__}.*Use a wrapper"
    with pytest.raises(FlowError, match=match):
        Encoder(space)
    with pytest.raises(FlowError, match=type(space).__name__):
        Encoder(spaces.Tuple((spaces.Discrete(2), space)))


def test_large_one_hot_vectors_are_refused_for_networks() -> None:
    space = spaces.MultiDiscrete([60_000, 60_000])
    with pytest.raises(FlowError, match=r"at most 100000 .* for PPO, got 120000"):
        Encoder(space).check_network("PPO")
    Encoder(spaces.Discrete(100_000)).check_network("PPO")
