# SPDX-License-Identifier: Apache-2.0
"""The native writer equals NumPy for usual results, and leaves others alone."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactorl.rl.envs._stepping import ENDED, GOES_ON, LEFT, ResultWriter

GOOD = np.array([1.5, -2, 0, 4], np.float32)


class Field:
    """Arrays of three environments; the middle one lands there."""

    def __init__(
        self,
        *rows: tuple[tuple[int, ...], Any],
        is_tuple: bool = False,
        ends: bool = True,
    ) -> None:
        self.observations = [np.full((3, *shape), 7, dtype) for shape, dtype in rows]
        self.rewards = np.full(3, 7.0)
        self.terminations = np.zeros(3, np.bool_)
        self.truncations = np.ones(3, np.bool_)
        mine = [a[1:2].reshape(a.shape[1:]) for a in self.observations]
        results = self.rewards, self.terminations, self.truncations
        self.landing = ResultWriter(
            tuple(mine) if is_tuple else mine[0], *[a[1:2] for a in results], ends=ends
        )

    def everything(self) -> list[Any]:
        """Return all that is there."""
        flags = self.terminations, self.truncations
        return [a.tolist() for a in (*self.observations, self.rewards, *flags)]


def box(**given: Any) -> Field:
    return Field(((4,), np.float32), **given)


def cards(**given: Any) -> Field:
    return Field(
        ((), np.int64), ((), np.int64), ((2,), np.uint8), is_tuple=True, **given
    )


@pytest.mark.parametrize("reward", [1.0, -0.0, np.float64(0.1), float("nan")])
@pytest.mark.parametrize("ends", [(False, False), (True, False), (False, True)])
def test_a_step_lands_at_its_own_index(reward: float, ends: tuple[bool, bool]) -> None:
    field = box()

    landed = field.landing.take((GOOD, reward, *ends, {}))

    assert landed == (ENDED if any(ends) else GOES_ON)
    assert field.observations[0].tolist() == [[7] * 4, GOOD.tolist(), [7] * 4]
    np.testing.assert_array_equal(field.rewards, [7, reward, 7])
    assert field.terminations.tolist() == [False, ends[0], False]
    assert field.truncations.tolist() == [True, ends[1], True]


def test_a_tuple_of_numbers_and_arrays_lands() -> None:
    field = cards()
    observation = (-(2**63), 2**63 - 1, np.array([3, 4], np.uint8))

    landed = field.landing.take((observation, 0.5, False, False, {}))

    assert landed == GOES_ON
    assert [a[1].tolist() for a in field.observations] == [-(2**63), 2**63 - 1, [3, 4]]


class Step(NamedTuple):
    """A tuple with names."""

    obs: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any


UNUSUAL: dict[str, Any] = {
    "a list": [GOOD, 1.0, False, False, {}],
    "a tuple with names": Step(*(GOOD, 1.0, False, False, {})),
    "four parts": (GOOD, 1.0, False, {}),
    "six parts": (GOOD, 1.0, False, False, {}, None),
    "no tuple": None,
    "another type of numbers": (GOOD.astype(np.float64), 1.0, False, False, {}),
    "another order of bytes": (GOOD.astype(">f4"), 1.0, False, False, {}),
    "another shape": (GOOD[:3], 1.0, False, False, {}),
    "more dimensions": (GOOD[None], 1.0, False, False, {}),
    "as many numbers in another shape": (GOOD.reshape(2, 2), 1.0, False, False, {}),
    "every other number": (np.zeros(8, np.float32)[::2], 1.0, False, False, {}),
    "a kind of array": (GOOD.view(np.recarray), 1.0, False, False, {}),
    "a list of numbers": (GOOD.tolist(), 1.0, False, False, {}),
    "a whole reward": (GOOD, 1, False, False, {}),
    "a short reward": (GOOD, np.float32(1), False, False, {}),
    "a reward that is an array": (GOOD, np.array(1.0), False, False, {}),
    "an end of NumPy's": (GOOD, 1.0, np.bool_(1), False, {}),
    "an end that is a number": (GOOD, 1.0, False, 0, {}),
    "an info": (GOOD, 1.0, False, False, {"lives": 3}),
    "an info of another kind": (GOOD, 1.0, False, False, OrderedDict()),
    "no info": (GOOD, 1.0, False, False, None),
}


@pytest.mark.parametrize("result", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_results_are_left_to_python(result: Any) -> None:
    field = box()
    before = field.everything()

    assert field.landing.take(result) == LEFT
    assert field.everything() == before


@pytest.mark.parametrize(
    "observation",
    [
        (1, 2),
        (1, 2, np.zeros(3, np.uint8)),
        [1, 2, np.zeros(2, np.uint8)],
        (1, 2**63, np.zeros(2, np.uint8)),
        (1, -(2**63) - 1, np.zeros(2, np.uint8)),
        (True, 2, np.zeros(2, np.uint8)),
        (1, np.int64(2), np.zeros(2, np.uint8)),
        (1, 2.0, np.zeros(2, np.uint8)),
        np.zeros(3, np.int64),
    ],
    ids=repr,
)
def test_tuple_is_written_completely_or_not_at_all(observation: Any) -> None:
    field = cards()
    before = field.everything()

    assert field.landing.take((observation, 1.0, False, False, {})) == LEFT
    assert not field.landing.take_first((observation, {}))
    assert field.everything() == before


def test_ends_can_be_left_alone() -> None:
    field = box(ends=False)
    before = field.everything()

    assert field.landing.take((GOOD, 1.0, True, False, {})) == LEFT
    assert field.landing.take((GOOD, 1.0, False, True, {})) == LEFT
    assert field.everything() == before
    assert field.landing.take((GOOD, 1.0, False, False, {})) == GOES_ON


def test_of_a_reset_the_observation_lands() -> None:
    field = box()
    _, *others = field.everything()

    assert field.landing.take_first((GOOD, {}))

    assert field.everything() == [[[7] * 4, GOOD.tolist(), [7] * 4], *others]


@pytest.mark.parametrize(
    "result", [(GOOD, {"a": 1}), (GOOD,), [GOOD, {}], (GOOD.tolist(), {}), None]
)
def test_an_unusual_reset_is_left_alone(result: Any) -> None:
    field = box()
    before = field.everything()

    assert not field.landing.take_first(result)
    assert field.everything() == before


def test_an_environment_may_return_the_row_itself() -> None:
    field = box()
    row = field.observations[0][1]
    row[:] = GOOD

    assert field.landing.take((row, 1.0, False, False, {})) == GOES_ON
    assert row.tolist() == GOOD.tolist()


@given(
    kind=st.sampled_from(["i1", "u2", "i8", "f2", "f4", "f8"]),
    shape=st.lists(st.integers(0, 3), max_size=3).map(tuple),
    data=st.data(),
)
def test_arrays_of_any_kind_and_shape_are_copied_bit_by_bit(
    kind: str, shape: tuple[int, ...], data: st.DataObject
) -> None:
    field = Field((shape, kind))
    size = int(np.prod((1, *shape))) * np.dtype(kind).itemsize
    memory = data.draw(st.binary(min_size=size, max_size=size))
    observation = np.frombuffer(memory, kind).reshape(shape)

    landed = field.landing.take((observation, 1.0, False, False, {}))

    assert landed == GOES_ON
    assert field.observations[0][1].tobytes() == memory
    assert (field.observations[0][::2] == 7).all()


@pytest.mark.parametrize(
    "row",
    [
        np.zeros(4, object),
        np.zeros(4, "U3"),
        np.zeros(4, np.complex64),
        np.zeros(4, ">f4"),
        np.zeros(8, np.float32)[::2],
        np.broadcast_to(np.float32(0), 4),
        [0.0] * 4,
        None,
    ],
    ids=repr,
)
def test_not_everything_is_a_place_for_results(row: Any) -> None:
    places = np.zeros(1), np.zeros(1, np.bool_), np.zeros(1, np.bool_)

    with pytest.raises(ValueError, match="array"):
        ResultWriter(row, *places, ends=True)
    with pytest.raises(ValueError, match="array"):
        ResultWriter((np.zeros(4), row), *places, ends=True)


@pytest.mark.parametrize("wrong", [np.zeros(2), np.zeros(1, np.float32), np.zeros(0)])
def test_a_reward_has_one_place(wrong: Any) -> None:
    flag = np.zeros(1, np.bool_)

    with pytest.raises(ValueError, match="no place for one such value"):
        ResultWriter(np.zeros(4), wrong, flag, flag, ends=True)
