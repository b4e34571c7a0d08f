# SPDX-License-Identifier: Apache-2.0
"""Observation buffers equal ``gymnasium.vector.utils.concatenate``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array

from reactorl.rl.envs.observation_buffer import SlotError, make_slots

NUMBERS = (
    0,
    31,
    -7,
    2**63 - 1,
    -(2**63) + 1,
    -(2**63),
    2**63,
    True,
    np.int64(5),
    np.int8(-5),
    np.asarray(6),
)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_integer_equals_stacked_integer(dtype: Any, number: Any) -> None:
    space = spaces.Discrete(2, dtype=dtype)
    slots = make_slots(space, 3)
    out = create_empty_array(space, n=3, fn=np.zeros)
    put = slots.writer(1)
    try:
        expected = concatenate(space, [0, number, 0], out)
    except TypeError:
        with pytest.raises(SlotError, match="observation must have dtype"):
            put(number)
        return
    put(number)
    found = slots.batch()
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("wrong", [2**64, 1.5, "one", None, [1], (1, 2)], ids=repr)
def test_non_integers_are_refused(wrong: Any) -> None:
    slots = make_slots(spaces.Discrete(2), 2)
    put = slots.writer(1)
    put(1)
    with pytest.raises(SlotError, match="observation must"):
        put(wrong)
    assert slots.batch().tolist() == [0, 1]


def test_a_number_among_others_lands_in_its_own_part() -> None:
    space = spaces.Tuple(
        (spaces.Discrete(32), spaces.Box(0, 1, (2,)), spaces.Discrete(2))
    )
    slots = make_slots(space, 2)
    slots.writer(1)((20, np.array([0.5, 1], np.float32), 1))
    first, second, third = slots.batch()
    assert (first.tolist(), third.tolist()) == ([0, 20], [0, 1])
    assert second.tolist() == [[0, 0], [0.5, 1]]


def test_copies_of_objects_do_not_change_with_the_observation() -> None:
    slots = make_slots(spaces.Sequence(spaces.Box(0, 9, (1,))), 2)
    reused = np.ones(1, np.float32)  # as environments do that save allocations
    for index in range(2):
        slots.writer(index)((reused,))
    copies = [slots.copy(), slots.some(np.array([1, 0]))]
    rows = [slots.row(0), slots.row(1)]

    reused += 1

    assert [[value.tolist() for (value,) in copy] for copy in copies] == [
        [[1.0], [1.0]],
        [[1.0], [1.0]],
    ]
    assert [value.tolist() for (value,) in rows] == [[1.0], [1.0]]
