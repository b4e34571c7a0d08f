# SPDX-License-Identifier: Apache-2.0
"""The native stepper does usual steps, and hands over the others unchanged."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from reactorl.rl.envs._stepping import ResultWriter, Stepper, StepperGroup

GOOD = np.array([1.5, -2], np.float32)
GOES_ON = (GOOD, 1.0, False, False, {})
ENDS = (GOOD, 2.0, True, False, {})


class Scripted:
    """Returns, or raises, one thing after another."""

    def __init__(self, *steps: Any, first: Any = (GOOD, {})) -> None:
        self.left = list(steps)
        self.first = first
        self.actions: list[Any] = []

    def step(self, action: Any) -> Any:
        self.actions.append(action)
        return self._told(self.left.pop(0))

    def reset(self) -> Any:
        self.actions.append("reset")
        return self._told(self.first)

    def _told(self, what: Any) -> Any:
        if isinstance(what, BaseException):
            raise what
        return what


class Place:
    """Where one environment lands."""

    def __init__(self) -> None:
        self.observation = np.zeros(2, np.float32)
        self.reward = np.full(1, 7.0)
        self.terminated, self.truncated = np.ones((2, 1), np.bool_)
        results = self.reward, self.terminated, self.truncated
        self.landing = ResultWriter(self.observation, *results, ends=True)

    def seen(self) -> tuple[Any, ...]:
        results = self.reward, self.terminated, self.truncated
        return (self.observation.tolist(), *(each.item() for each in results))


def stepper(
    env: Any,
    place: Place | None = None,
    *,
    index: int = 0,
    plain: bool = True,
    resets: bool = True,
) -> Stepper:
    made = Stepper(index, plain=plain, resets=resets)
    made.env = env
    made.land(None if place is None else place.landing)
    return made


def test_a_step_that_lands_leaves_nothing_to_do() -> None:
    env, place = Scripted(GOES_ON, ENDS), Place()
    mine = stepper(env, place)

    assert mine.step("left") is None
    assert place.seen() == ([1.5, -2], 1.0, False, False)
    assert (mine.steps, mine.ended) == (1, False)

    assert mine.step("right") is None
    assert place.seen() == ([1.5, -2], 2.0, True, False)
    assert (mine.steps, mine.ended) == (2, True)
    assert env.actions == ["left", "right"]


def test_after_the_end_a_step_is_a_reset_if_it_may_be() -> None:
    env, place = Scripted(ENDS, first=(2 * GOOD, {})), Place()
    mine = stepper(env, place)
    mine.step("left")

    assert mine.step("ignored") is None

    assert place.seen() == ([3, -4], 0.0, False, False)
    assert (mine.steps, mine.ended) == (1, False)
    assert env.actions == ["left", "reset"]


@pytest.mark.parametrize(("plain", "ended"), [(True, True), (False, False)])
def test_step_is_not_begun_if_it_is_left_to_python(*, plain: bool, ended: bool) -> None:
    env = Scripted(GOES_ON)
    mine = stepper(env, Place(), plain=plain, resets=False)
    mine.ended = ended

    rest = mine.step("left")

    assert rest is not None
    assert not rest.begun
    assert rest.result is rest.error is None
    assert (env.actions, mine.steps) == ([], 0)


@pytest.mark.parametrize(
    "result", [None, (GOOD, 1.0, False, False, {"lives": 3}), (GOOD, 1), "nonsense"]
)
@pytest.mark.parametrize("is_reset", [False, True])
def test_unwritable_result_is_handed_over(result: Any, *, is_reset: bool) -> None:
    mine = stepper(Scripted(result, first=result), place := Place())
    mine.ended = is_reset
    before = place.seen()

    rest = mine.step(0)

    assert rest is not None
    assert (rest.begun, rest.is_reset) == (True, is_reset)
    assert rest.result is result
    assert rest.error is None
    assert place.seen() == before
    assert (mine.steps, mine.ended) == (not is_reset, is_reset)


def test_without_a_stepping_every_result_is_handed_over() -> None:
    rest = stepper(Scripted(GOES_ON)).step(0)

    assert rest is not None
    assert rest.result is GOES_ON


@pytest.mark.parametrize(
    "error", [ValueError("it broke"), SystemExit(3), GeneratorExit()]
)
@pytest.mark.parametrize("is_reset", [False, True])
def test_a_failure_is_handed_over_with_its_traceback(
    error: BaseException, *, is_reset: bool
) -> None:
    mine = stepper(Scripted(error, first=error), Place())
    mine.ended = is_reset

    rest = mine.step(0)

    assert rest is not None
    assert (rest.begun, rest.is_reset) == (True, is_reset)
    assert rest.error is error
    trace = error.__traceback__
    assert trace is not None
    assert trace.tb_frame.f_code.co_name == ("reset" if is_reset else "step")
    error.with_traceback(None)


@pytest.mark.parametrize("is_reset", [False, True])
def test_interrupt_is_not_a_failure_of_the_env(*, is_reset: bool) -> None:
    mine = stepper(Scripted(KeyboardInterrupt(), first=KeyboardInterrupt()), Place())
    mine.ended = is_reset

    with pytest.raises(KeyboardInterrupt):
        mine.step(0)


def test_group_stops_at_the_first_unfinished_step_and_continues_after_it() -> None:
    scripts = [Scripted(GOES_ON), Scripted("odd"), Scripted(GOES_ON), Scripted(ENDS)]
    crew = StepperGroup(
        [stepper(env, Place(), index=i) for i, env in enumerate(scripts)]
    )
    actions = np.arange(10, 14)

    stop = crew.step(0, actions)

    assert stop is not None
    at, rest = stop
    assert (at, rest.result) == (1, "odd")
    assert [env.actions for env in scripts] == [[10], [11], [], []]
    assert crew.step(at + 1, actions) is None
    assert [env.actions for env in scripts] == [[10], [11], [12], [13]]


def test_a_crew_takes_the_actions_of_its_own_environments() -> None:
    scripts = {index: Scripted(GOES_ON) for index in (7, 3)}
    crew = StepperGroup([stepper(env, Place(), index=i) for i, env in scripts.items()])

    assert crew.step(0, {3: "three", 7: "seven", 5: "not mine"}) is None
    assert {i: env.actions for i, env in scripts.items()} == {
        7: ["seven"],
        3: ["three"],
    }


def test_a_missing_action_is_an_error() -> None:
    crew = StepperGroup([stepper(Scripted(GOES_ON), Place(), index=2)])

    with pytest.raises(IndexError):
        crew.step(0, np.zeros(2))


def test_a_crew_has_steppers_only() -> None:
    with pytest.raises(RuntimeError):
        StepperGroup(["no stepper"])  # type: ignore[list-item]


def test_env_in_a_reference_cycle_is_collected() -> None:
    env = Scripted("odd", ValueError("it broke"))
    mine = stepper(env, Place())
    crew = StepperGroup([mine])
    env.friends = [mine, crew, crew.step(0, [0]), mine.step(0)]  # type: ignore[attr-defined]
    gone = weakref.ref(env)

    del env, mine, crew
    gc.collect()

    assert gone() is None
