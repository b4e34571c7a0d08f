# SPDX-License-Identifier: Apache-2.0
"""A run can be watched from another thread, and does not notice."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from reactorl import (
    Input,
    LogicalAction,
    Output,
    ReactionError,
    Reactor,
    drive,
    param,
    reaction,
    run,
    sec,
    startup,
)

if TYPE_CHECKING:
    from reactorl import Sample, Watch


class Count(Reactor):
    """Counts to a number, a second of logical time apart; may wait for a friend."""

    to: int = param(5)
    half_way: threading.Event | None = param(None)
    go_on: threading.Event | None = param(None)
    next = LogicalAction[None]()

    def setup(self) -> None:
        self.count = 0

    @reaction(startup, next, effects=[next])
    def step(self) -> None:
        self.count += 1
        if self.count == 3 and self.half_way is not None and self.go_on is not None:
            self.half_way.set()
            assert self.go_on.wait(60)
        if self.count < self.to:
            self.next.schedule(sec(1))


def test_the_last_sample_is_what_the_result_says() -> None:
    watches: list[Watch] = []

    result = run(Count(to=7), fast=True, at_start=watches.append)

    (watch,) = watches
    sample = watch.sample()
    assert watch.ended
    assert watch.program is result.program
    assert list(sample.costs[:2]) == [7, 7]
    assert sample.costs[2] > 0
    assert sample.tags == result.tags
    assert sample.events == result.events
    assert sample.elapsed == result.final_tag.time == sec(6)
    assert watch.sample() is sample


def test_another_thread_sees_where_the_run_is() -> None:
    half_way, go_on = threading.Event(), threading.Event()
    watches: list[Watch] = []
    seen: list[Sample] = []

    def look() -> None:
        assert half_way.wait(60)
        seen.append(watches[0].sample())
        go_on.set()

    def begin(watch: Watch) -> None:
        watches.append(watch)
        seen.append(watch.sample())

    thread = threading.Thread(target=look)
    thread.start()
    run(Count(half_way=half_way, go_on=go_on), fast=True, at_start=begin)
    thread.join()

    before, meanwhile = seen
    assert (before.tags, before.elapsed, before.costs[0]) == (0, 0, 0)
    assert meanwhile.tags == 2
    assert meanwhile.elapsed == sec(1)
    assert meanwhile.costs[0] == 3  # the third runs at that moment
    assert meanwhile.at >= before.at


def test_watching_a_run_that_fails_tells_how_far_it_came() -> None:
    class Fails(Reactor):
        @reaction(startup)
        def fail(self) -> None:
            raise ValueError

    watches: list[Watch] = []
    with pytest.raises(ReactionError):
        run(Fails, fast=True, at_start=watches.append)

    assert watches[0].ended
    assert watches[0].sample().costs[0] == 1


def test_a_driven_program_can_be_watched() -> None:
    class Echo(Reactor):
        x = Input[int]()
        y = Output[int]()

        @reaction(x, effects=[y])
        def echo(self) -> None:
            self.y.set(self.x.value)

    watches: list[Watch] = []
    with drive(Echo, at_start=watches.append, workers=2) as echo:
        assert not watches[0].ended
        for k in range(4):
            echo.step(x=k)
        assert watches[0].sample().costs[0] == 4
        assert len(watches[0].sample().cpu) == 2
    assert watches[0].ended


def test_results_do_not_depend_on_being_watched() -> None:
    ending = threading.Event()

    def follow(watch: Watch) -> None:
        def look() -> None:
            while not ending.is_set() and not watch.ended:
                watch.sample()

        threading.Thread(target=look, daemon=True).start()

    try:
        watched = run(Count(to=300), fast=True, trace=True, at_start=follow)
    finally:
        ending.set()

    assert watched.digest == run(Count(to=300), fast=True, trace=True).digest
