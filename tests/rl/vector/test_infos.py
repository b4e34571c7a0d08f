# SPDX-License-Identifier: Apache-2.0
"""Infos are batched as Gymnasium does it, on both code paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import VectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from reactorl.rl.vector.infos import batch_infos
from tests.rl.comparing import assert_same

COUNT = 3
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.booleans()
)
VALUES = st.one_of(NUMBERS, st.none(), st.sampled_from(["", "word", np.float32(1)]))
NAMES = st.sampled_from(["a", "b", "_a", "final_obs", "lives"])


def gathered(replies: dict[int, Any]) -> dict[str, Any]:
    vector = VectorEnv[Any, Any, Any]()
    vector.num_envs = COUNT
    infos: dict[str, Any] = {}
    for index, parts in replies.items():
        for part in parts:
            infos = vector._add_info(infos, part, index)
    return infos


def check(replies: dict[int, Any]) -> None:
    vector = VectorEnv[Any, Any, Any]()
    vector.num_envs = COUNT
    try:
        wanted = gathered(replies)
    except Exception as error:
        with pytest.raises(type(error)):
            batch_infos(replies, COUNT, vector._add_info)
    else:
        assert_same(batch_infos(replies, COUNT, vector._add_info), wanted)


@settings(deadline=None)  # tests do not time things
@given(
    st.dictionaries(
        st.sampled_from(range(COUNT)),
        st.lists(st.dictionaries(NAMES, VALUES), max_size=2).map(tuple),
    )
)
def test_any_infos(replies: dict[int, Any]) -> None:
    check(dict(sorted(replies.items())))


@settings(deadline=None)  # tests do not time things
@given(st.data(), st.lists(NAMES, unique=True))
def test_infos_of_the_same_names(data: st.DataObject, names: list[str]) -> None:
    kinds = {name: data.draw(NUMBERS.map(type)) for name in names}
    check(
        {
            index: ({n: data.draw(st.from_type(kinds[n])) for n in names},)
            for index in range(COUNT)
        }
    )


def test_numbers_that_all_have_are_columns_without_asking_gymnasium() -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    found = batch_infos(
        {k: ({"lives": k, "speed": k / 2, "over": k == 1},) for k in range(COUNT)},
        COUNT,
        never,
    )

    assert_same(
        found,
        {
            "lives": np.array([0, 1, 2]),
            "_lives": np.ones(COUNT, np.bool_),
            "speed": np.array([0.0, 0.5, 1.0]),
            "_speed": np.ones(COUNT, np.bool_),
            "over": np.array([False, True, False]),
            "_over": np.ones(COUNT, np.bool_),
        },
    )


@pytest.mark.parametrize("names", [("lives", "_lives"), ("_lives", "lives")])
@pytest.mark.parametrize("mask", [[7, 0, 1], [True, False, True]])
def test_names_that_begin_with_an_underscore_are_left_to_gymnasium(
    names: tuple[str, str], mask: list[int]
) -> None:
    check(
        {
            index: (
                {name: mask[index] if name == "_lives" else index for name in names},
            )
            for index in range(COUNT)
        }
    )


def test_masks_belong_to_the_caller() -> None:
    replies = {k: ({"lives": k},) for k in range(COUNT)}
    add = VectorEnv[Any, Any, Any]()._add_info

    batch_infos(replies, COUNT, add)["_lives"][:] = False

    assert batch_infos(replies, COUNT, add)["_lives"].tolist() == [True] * COUNT
