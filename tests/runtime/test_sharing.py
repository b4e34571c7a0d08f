# SPDX-License-Identifier: Apache-2.0
"""Reactions run concurrently where that is possible.

How often work is shared depends on measured costs; ``cpp/test/sharing_test.cpp`` states
bounds for it with a simulated clock. Here a program runs until something has happened
once, however long that takes.
"""

from __future__ import annotations

import threading

import pytest

from reactorl import (
    Input,
    MultiInput,
    Output,
    Reactor,
    Timer,
    bank,
    msec,
    param,
    reaction,
    run,
)

TAGS = 4000
"""After so many tags a test gives up."""
WAIT = 0.01
"""How long a body waits for others, in seconds. A longer wait needs fewer tags."""


class Meeting:
    """Lets bodies wait until ``size`` of them are inside at the same time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.most = 0
        self.done = threading.Event()
        self._lock = threading.Lock()
        self._inside = 0

    def wait(self) -> None:
        """Wait for the others, outside the interpreter, but not for long."""
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
            if self._inside == self.size:
                self.done.set()
        self.done.wait(WAIT)
        with self._lock:
            self._inside -= 1


class Waiter(Reactor):
    """Waits outside the interpreter, as reactions that release a GIL do."""

    meeting: Meeting = param()
    tick = Timer(0, msec(1))

    @reaction(tick)
    def wait(self) -> None:
        self.meeting.wait()
        if self.meeting.done.is_set():
            self.request_stop()


class Waiters(Reactor):
    """Four that can wait at the same time."""

    meeting: Meeting = param()
    each = bank(Waiter(meeting=meeting), width=4)


@pytest.mark.parametrize("workers", [2, 4])
def test_as_many_reactions_run_at_once_as_there_are_workers(workers: int) -> None:
    meeting = Meeting(workers)

    result = run(
        Waiters(meeting=meeting), workers=workers, fast=True, timeout=msec(TAGS)
    )

    assert meeting.done.is_set()
    assert meeting.most == workers
    assert result.shared_tags > 0


def test_one_worker_runs_one_reaction_at_a_time() -> None:
    meeting = Meeting(2)

    result = run(Waiters(meeting=meeting), workers=1, fast=True, timeout=msec(3))

    assert meeting.most == 1
    assert result.shared_tags == 0


class Answerer(Reactor):
    """Answers after it waited for the others."""

    meeting: Meeting = param()
    tick = Timer(0, msec(1))
    answer = Output[int]()

    @reaction(tick, effects=[answer])
    def wait(self) -> None:
        self.meeting.wait()
        self.answer.set(self.bank_index)


class Gatherer(Reactor):
    """Gathers answers, alone at the end of each tag."""

    meeting: Meeting = param()
    gathered: list[list[int]] = param()
    answers = MultiInput[int]()

    @reaction(answers)
    def gather(self) -> None:
        self.gathered.append(self.answers.values())
        if self.meeting.done.is_set():
            self.request_stop()


class Gathering(Reactor):
    """Four that can wait at the same time, and one that needs all of their answers."""

    meeting: Meeting = param()
    gathered: list[list[int]] = param()
    each = bank(Answerer(meeting=meeting), width=4)
    gatherer = Gatherer(meeting=meeting, gathered=gathered)

    def build(self) -> None:
        self.connect(self.each.answer, self.gatherer.answers)


def test_shared_answers_arrive_complete_and_in_order() -> None:
    meeting = Meeting(4)
    gathered: list[list[int]] = []

    run(
        Gathering(meeting=meeting, gathered=gathered),
        workers=4,
        fast=True,
        timeout=msec(TAGS),
    )

    assert meeting.done.is_set()
    assert all(answers == [0, 1, 2, 3] for answers in gathered)


class Chain:
    """How far the chain of stages got at the current tag."""

    def __init__(self) -> None:
        self.finished = threading.Event()
        self.overtook = False


class Long(Reactor):
    """A reaction at the lowest level that lasts until the chain has finished."""

    chain: Chain = param()
    tick = Timer(0, msec(1))

    @reaction(tick)
    def work(self) -> None:
        if self.chain.finished.wait(WAIT):
            self.chain.overtook = True
            self.request_stop()


class Stage(Reactor):
    """One of a chain, at a deeper level than the one before."""

    chain: Chain = param()
    x = Input[int]()
    y = Output[int]()

    @reaction(x, effects=[y])
    def work(self) -> None:
        self.chain.finished.wait(WAIT / 10)  # long enough to be shared
        if self.bank_index == 4:
            self.chain.finished.set()
        self.y.set(self.x.value)


class Source(Reactor):
    """Starts the chain at the tag of the long reaction."""

    y = Output[int]()
    tick = Timer(0, msec(1))

    @reaction(tick, effects=[y])
    def send(self) -> None:
        self.y.set(1)


class Clearing(Reactor):
    """Clears the event between two tags of the others."""

    chain: Chain = param()
    tick = Timer(msec(1) // 2, msec(1))

    @reaction(tick)
    def clear(self) -> None:
        self.chain.finished.clear()


class Beside(Reactor):
    """A long reaction beside an independent chain, at one tag."""

    chain: Chain = param()
    clearing = Clearing(chain=chain)
    long = Long(chain=chain)
    source = Source()
    stages = bank(Stage(chain=chain), width=5)

    def build(self) -> None:
        self.connect([self.source.y, self.stages.y], self.stages.x)


@pytest.mark.filterwarnings("ignore::reactorl.ReactorlWarning")
def test_long_reaction_delays_only_what_depends_on_it() -> None:
    chain = Chain()

    run(Beside(chain=chain), workers=2, fast=True, timeout=msec(TAGS))

    # The long reaction was running when the last of five deeper levels finished.
    assert chain.overtook
