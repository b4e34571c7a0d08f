# SPDX-License-Identifier: Apache-2.0
"""The checking mode names the reaction that changed a value after it was sent."""

from __future__ import annotations

import pytest

from reactorl import (
    Input,
    Output,
    Reactor,
    SharedValueError,
    Timer,
    drive,
    msec,
    reaction,
    run,
    startup,
)


class Echo(Reactor):
    """Sends the list that it receives, and counts."""

    x = Input[list[int]]()
    y = Output[list[int]]()
    tick = Input[int]()

    @reaction(x, effects=[y])
    def send(self) -> None:
        self.y.set(self.x.value)

    @reaction(tick)
    def count(self) -> None: ...


def test_change_between_two_reactions_is_not_blamed_on_the_next_one() -> None:
    data = [1]
    with drive(Echo, check=True) as session:
        session.step(x=data)
        data.append(2)  # by the caller, while no reaction runs

        with pytest.raises(SharedValueError) as caught:
            session.step(tick=1)

    assert "before reaction main.count" in str(caught.value)


class Recycling(Reactor):
    """Changes the list that it sent last, and sends a new one in the same body."""

    out = Output[list[int]]()
    tick = Timer(0, msec(1))

    def setup(self) -> None:
        self.data = [0]

    @reaction(tick, effects=[out])
    def send(self) -> None:
        if self.elapsed:
            self.data.append(1)
            self.data = [0]
        self.out.set(self.data)


class Recycler(Reactor):
    """A main reactor has no ports."""

    source = Recycling()


def test_change_of_a_value_that_is_replaced_in_the_same_body_is_found() -> None:
    with pytest.raises(SharedValueError) as caught:
        run(Recycler, timeout=msec(3), fast=True, check=True)

    assert "in reaction main.source.send" in str(caught.value)


def test_checking_runs_one_reaction_at_a_time() -> None:
    class Idle(Reactor):
        @reaction(startup)
        def begin(self) -> None: ...

    assert run(Idle, check=True, workers=4, fast=True).options.workers == 1
