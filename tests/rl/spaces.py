# SPDX-License-Identifier: Apache-2.0
"""Random spaces for Hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st

INFINITY = np.inf


@st.composite
def boxes(draw: Any, dtypes: Any = (np.float32, np.float64)) -> spaces.Box:
    """Boxes with bounds, without, or with one, by component."""
    shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    dtype = draw(st.sampled_from(list(dtypes)))
    numbers = st.integers(-300, 300).map(lambda n: n / 10)
    size = int(np.prod(shape))
    low, high = np.empty(size), np.empty(size)
    for k in range(size):
        one, other = sorted([draw(numbers), draw(numbers)])
        kind = draw(st.sampled_from(["both", "none", "low", "high"]))
        low[k] = one if kind in ("both", "low") else -INFINITY
        high[k] = other + 0.1 if kind in ("both", "high") else INFINITY
    low, high = low.reshape(shape).astype(dtype), high.reshape(shape).astype(dtype)
    return spaces.Box(low, high, shape, dtype)


starts = st.integers(-5, 5)
discretes = st.builds(
    lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 6), starts
)


@st.composite
def multi_discretes(draw: Any) -> spaces.MultiDiscrete:
    shape = draw(st.sampled_from([(1,), (3,), (2, 2)]))
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(1, 4), min_size=size, max_size=size))
    first = draw(st.lists(starts, min_size=size, max_size=size))
    return spaces.MultiDiscrete(
        np.reshape(counts, shape), start=np.reshape(first, shape)
    )


multi_binaries = st.sampled_from([1, 3, (2, 2)]).map(spaces.MultiBinary)
texts = st.builds(
    lambda length, characters: spaces.Text(length, min_length=0, charset=characters),
    st.integers(1, 4),
    st.sampled_from(["ab", "xyz ", "0123456789"]),
)
integers = st.sampled_from([np.uint8, np.int8, np.int16, np.int64, np.uint16]).map(
    lambda dtype: spaces.Box(0, 100, (2, 3), dtype)
)
images = st.sampled_from([(4, 4, 3), (3, 5)]).map(
    lambda shape: spaces.Box(0, 255, shape, np.uint8)
)


def nested(leaves: Any) -> Any:
    """Return leaves, and dicts and tuples of them."""

    def deeper(inner: Any) -> Any:
        keys = st.sampled_from(["b", "a", "action", "x"])
        return st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple),
            st.dictionaries(keys, inner, min_size=1, max_size=3).map(spaces.Dict),
        )

    return st.recursive(leaves, deeper, max_leaves=5)


action_leaves = st.one_of(boxes(), discretes, multi_discretes(), multi_binaries)
action_spaces = nested(action_leaves)
observation_spaces = nested(st.one_of(action_leaves, texts, integers, images))
