# SPDX-License-Identifier: Apache-2.0
"""``drive(..., federation=...)``: tag by tag, over processes of this machine."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reactorl import (
    Federation,
    FederationError,
    ProgramError,
    ReactionError,
    ReactorlError,
    UnknownNameError,
    drive,
)
from tests.federation.driven_programs import (
    PERIOD,
    Doubler,
    Driven,
    Microsteps,
    main_facts,
    unsendable,
)

if TYPE_CHECKING:
    from reactorl import Result

STEPS = 6


def split(federates: int, width: int = 4) -> Federation | None:
    """Return a placement of the workers; the first ones are with the judge."""
    if federates == 1:
        return None
    placement = {
        f"main.worker[{member}]": f"f{member * federates // width}"
        for member in range(width)
        if member * federates // width
    }
    return Federation(placement, replicas=["main.clock"])


def outcome(federates: int, **options: Any) -> tuple[Any, Any]:
    """Return what the steps gave, and how the run ended."""
    ended: list[Result] = []
    params = {
        name: options.pop(name) for name in ("behind", "first") if name in options
    }
    seen = []
    with drive(
        Driven(**params),
        federation=split(federates),
        trace="values",
        seed=3,
        at_end=ended.append,
        **options,
    ) as run:
        for number in range(STEPS):
            first = params.get("first", 1) if number == 0 else 1
            found = run.step(after=first * PERIOD)
            shown = [None if a is None else a.tobytes() for a in found.shown]
            seen.append((found.tag, shown, found.get("total")))
    assert run.result is ended[0]
    result = run.result
    return seen, (result.digest, result.final_tag, result.reactions)


@pytest.mark.parametrize("behind", [0, 1, 3])
def test_steps_and_trace_are_those_of_one_process(behind: int) -> None:
    expected = outcome(1, behind=behind)

    for federates in (2, 4):
        assert outcome(federates, behind=behind) == expected
    assert outcome(2, behind=behind, workers=3, shuffle=5) == expected


def test_what_is_in_flight_goes_to_the_federates_it_arrives_at() -> None:
    # As of a program that is resumed: it begins at its 7th tag.
    told, out = np.arange(3.0), np.full(4, 0.5)
    flight = [("main.judge.told", told, 5 * PERIOD)] + [
        (f"main.worker[{k}].out", out + k, 6 * PERIOD) for k in range(4)
    ]
    options: dict[str, Any] = {"behind": 2, "first": 7, "preload": flight}

    assert outcome(4, **options) == outcome(1, **options)
    assert outcome(4, **options) != outcome(4, behind=2, first=7)


def test_states_are_read_in_every_process() -> None:
    with drive(Driven, federation=split(4), state=main_facts) as run:
        run.step(after=PERIOD)
        found = run.states()
        again = run.states()
        run.step(after=PERIOD)

    assert again == found
    assert found[0] == (os.getpid(), 4)
    assert len({process for process, _ in found}) == 4
    assert [width for _, width in found] == [4] * 4


def test_no_process_is_ahead_of_the_driver() -> None:
    with drive(Driven(behind=3), federation=split(2), trace=True) as run:
        run.step(after=PERIOD)
        run.step(after=PERIOD)

    trace = run.result.trace
    assert str(run.result.final_tag) == f"({2 * PERIOD}, 1)"
    assert max(record.tag.time for record in trace.tags) == 2 * PERIOD


def test_nothing_is_stepped() -> None:
    with drive(Driven, federation=split(2), trace=True) as run:
        pass
    with drive(Driven, trace=True) as one:
        pass

    assert run.result.digest == one.result.digest


def test_never_entered() -> None:
    run = drive(Driven, federation=split(2))

    with pytest.raises(RuntimeError, match="is not running"):
        run.step(after=PERIOD)
    with pytest.raises(RuntimeError, match="must be given to drive"):
        run.preload("main.judge.told", 1, sent=0)


def test_plug() -> None:
    with drive(Driven, federation=split(2)) as run:
        push = run.plug(after=PERIOD)
        totals = [push()["total"] for _ in range(3)]
    with drive(Driven) as one:
        push = one.plug(after=PERIOD)
        assert totals == [push()["total"] for _ in range(3)]


# -- failures --------------------------------------------------------------------------


def run_all(run: Any) -> None:
    with run:
        for _ in range(STEPS):
            run.step(after=PERIOD)


def fail(kind: str, federates: int) -> BaseException:
    run = drive(Driven(kind=kind), federation=split(federates))
    with pytest.raises(ReactorlError) as raised:
        run_all(run)
    with pytest.raises(RuntimeError, match=r"program (has ended|is not running)"):
        run.step(after=PERIOD)
    return raised.value


@pytest.mark.parametrize("kind", ["raises", "judge raises"])
def test_a_body_that_raises_gives_the_error_of_one_process(kind: str) -> None:
    expected = fail(kind, 1)
    assert isinstance(expected, ReactionError)

    for federates in (2, 4):
        found = fail(kind, federates)
        assert type(found) is ReactionError
        assert str(found) == str(expected)
        assert repr(found.__cause__) == repr(expected.__cause__)


@pytest.mark.parametrize(
    ("kind", "how"),
    [("dies", "was killed by SIGKILL"), ("exits", "ended with status 7")],
)
def test_a_federate_that_is_lost_is_named(kind: str, how: str) -> None:
    error = fail(kind, 4)

    assert isinstance(error, FederationError)
    # Members 1 to 3 do so at the same tag; whose end is seen first is not defined.
    assert any(f"federate f{k} was lost" in str(error) for k in (1, 2, 3))
    assert how in str(error)
    assert "the last tag that it reported" in str(error) or "not reported" in str(error)


def test_a_federate_that_is_lost_between_steps() -> None:
    def states(run: Any) -> None:
        run.states()

    def step(run: Any) -> None:
        run.step(after=PERIOD)

    def leave(run: Any) -> None:
        run.__exit__(None, None, None)

    for then in (states, step, leave):
        with drive(Driven, federation=split(2), state=main_facts) as run:
            run.step(after=PERIOD)
            _, (other, _) = run.states()
            os.kill(other, signal.SIGKILL)
            with pytest.raises(FederationError, match="federate f1 was lost"):
                then(run)


def test_an_exception_of_the_driver_ends_all() -> None:
    found: list[Any] = []

    def interrupted() -> None:
        with drive(Driven, federation=split(4), state=main_facts) as run:
            run.step(after=PERIOD)
            found.extend(run.states())
            raise KeyError(PERIOD)

    with pytest.raises(KeyError, match=str(PERIOD)):
        interrupted()

    for process, _ in found[1:]:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


# -- what is refused -------------------------------------------------------------------


def test_programs_with_microsteps_are_refused() -> None:
    with pytest.raises(ProgramError, match="may have more than one tag") as raised:
        drive(Microsteps, federation=Federation({"main.worker": "a"}))

    assert "positive delay" in str(raised.value)


def test_inputs_of_the_main_reactor_must_be_read_with_it() -> None:
    with pytest.raises(ProgramError, match="the input 'x' of the main reactor"):
        drive(Doubler, federation=Federation({"main.inner": "a"}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fast": False}, "fast must be True in a driven federation"),
        ({"timeout": 5}, "timeout must be None in a driven federation"),
    ],
)
def test_options_that_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drive(Driven, federation=split(2), **options)


def test_steps_must_take_time() -> None:
    with (
        drive(Driven, federation=split(2)) as run,
        pytest.raises(ValueError, match="after must be positive"),
    ):
        run.step()


def test_a_step_that_is_refused_can_be_repeated() -> None:
    with drive(Driven, federation=split(2)) as run:
        with pytest.raises(UnknownNameError, match="nothing"):
            run.step(after=PERIOD, nothing=1)
        found = run.step(after=PERIOD)

    assert found.tag.time == PERIOD


def test_states_need_a_function() -> None:
    for federation in (None, split(2)):
        with (
            drive(Driven, federation=federation) as run,
            pytest.raises(ValueError, match="state must be a function"),
        ):
            run.states()


def test_states_of_one_process() -> None:
    with pytest.raises(RuntimeError, match="is not running"):
        drive(Driven, state=main_facts).states()
    with drive(Driven(width=2), state=main_facts) as run:
        assert run.states() == [(os.getpid(), 2)]


def test_preload_names_a_port() -> None:
    flight = [("main.judge.nothing", 1, 0)]
    with pytest.raises(UnknownNameError, match="nothing"):
        drive(Driven, preload=flight)
    with (
        pytest.raises(UnknownNameError, match="nothing"),
        drive(Driven, federation=split(2), preload=flight),
    ):
        pass


def test_a_state_that_cannot_be_sent_is_an_error() -> None:
    with drive(Driven, federation=split(2), state=unsendable) as run:
        run.step(after=PERIOD)
        with pytest.raises(ReactorlError, match="a value of type generator"):
            run.states()
