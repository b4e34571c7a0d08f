# SPDX-License-Identifier: Apache-2.0
"""Actions: when scheduled events happen, and with which value."""

from __future__ import annotations

from reactorl import (
    LogicalAction,
    Output,
    PhysicalAction,
    Reactor,
    Tag,
    Timer,
    reaction,
    startup,
)
from tests.programs.rule import rule


@rule(
    """
    (0, 0)
      run main.start
        event main.a at (0, 1)
        event main.a at (0, 2)
        event main.a at (5, 0)
        event main.a at (5, 1)
        event main.a at (0, 3)
    (0, 1)
      run main.go
    (0, 2)
      run main.go
    (0, 3)
      run main.go
    (5, 0)
      run main.go
    (5, 1)
      run main.go
    (5, 2)
    """
)
class EventsOfOneActionDoNotMerge(Reactor):
    a = LogicalAction[str]()

    def setup(self) -> None:
        self.expected = ["first", "second", "negative", "third", "fourth"]

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(0, "first")
        self.a.schedule(0, "second")
        self.a.schedule(5, "third")
        self.a.schedule(5, "fourth")
        self.a.schedule(-7, "negative")  # counts as no delay

    @reaction(a)
    def go(self) -> None:
        assert self.a.value == self.expected.pop(0)


class _Value(Reactor):
    seen = Output[str]()
    a = LogicalAction[int]()
    timer = Timer(0, 2)

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(1, 7)
        self.a.schedule(3)

    @reaction(timer, a, effects=[seen])
    def look(self) -> None:
        self.seen.set(f"{self.a.is_present:d}:{self.a.value}")


@rule(
    """
    (0, 0)
      run main.it.start
        event main.it.a at (1, 0)
        event main.it.a at (3, 0)
      run main.it.look
        set main.it.seen = '0:None'
    (1, 0)
      run main.it.look
        set main.it.seen = '1:7'
    (2, 0)
      run main.it.look
        set main.it.seen = '0:7'
    (3, 0)
      run main.it.look
        set main.it.seen = '1:None'
    (4, 0)
      run main.it.look
        set main.it.seen = '0:None'
    """,
    timeout=4,
)
class AnAbsentActionKeepsItsValueAndNoPayloadIsNone(Reactor):
    it = _Value()


@rule(
    """
    (0, 0)
      run main.start
        event main.a at (3, 0)
        event main.a at (5, 0)
    (3, 0)
      run main.go
        event main.a at (6, 0)
    (5, 0)
      run main.go
        event main.a dropped
    (6, 0)
      run main.go
        event main.a dropped
    (6, 1)
    """,
    timeout=7,
)
class MinDelayIsAddedAndATriggerMayBeScheduled(Reactor):
    a = LogicalAction[None](3)

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule()
        self.a.schedule(2)

    @reaction(a)
    def go(self) -> None:
        self.a.schedule()


class _Spaced(Reactor):
    """Shows the values of an action ``a`` that subclasses declare."""

    seen = Output[object]()


class _Defer(_Spaced):
    a = LogicalAction[str](min_spacing=10)

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(100, "first")
        self.a.schedule(99, "second")
        self.a.schedule(101, "third")

    @reaction(a, effects=["seen"])
    def go(self) -> None:
        self.seen.set(self.a.value)


@rule(
    """
    (0, 0)
      run main.it.start
        event main.it.a at (100, 0)
        event main.it.a at (110, 0)
        event main.it.a at (120, 0)
    (100, 0)
      run main.it.go
        set main.it.seen = 'first'
    (110, 0)
      run main.it.go
        set main.it.seen = 'second'
    (120, 0)
      run main.it.go
        set main.it.seen = 'third'
    (120, 1)
    """
)
class DeferCountsFromTheLatestCall(Reactor):
    it = _Defer()


class _Drop(_Spaced):
    a = LogicalAction[str](min_spacing=10, policy="drop")

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(5, "first")
        self.a.schedule(14, "dropped")
        self.a.schedule(15, "second")

    @reaction(a, effects=["seen", a])
    def go(self) -> None:
        self.seen.set(self.a.value)
        if self.elapsed == 5:
            self.a.schedule(19, "dropped")
            self.a.schedule(20, "third")


@rule(
    """
    (0, 0)
      run main.it.start
        event main.it.a at (5, 0)
        event main.it.a dropped
        event main.it.a at (15, 0)
    (5, 0)
      run main.it.go
        set main.it.seen = 'first'
        event main.it.a dropped
        event main.it.a at (25, 0)
    (15, 0)
      run main.it.go
        set main.it.seen = 'second'
    (25, 0)
      run main.it.go
        set main.it.seen = 'third'
    (25, 1)
    """
)
class DropDiscardsWhatComesTooEarly(Reactor):
    it = _Drop()


class _Replace(_Spaced):
    a = LogicalAction[str](min_spacing=10, policy="replace")

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(5, "replaced")
        self.a.schedule(9, "first")

    @reaction(a, effects=["seen", a])
    def go(self) -> None:
        self.seen.set(self.a.value)
        if self.elapsed == 5:
            self.a.schedule(1, "second")  # nothing is left to replace: deferred


@rule(
    """
    (0, 0)
      run main.it.start
        event main.it.a at (5, 0)
        event main.it.a at (5, 0)
    (5, 0)
      run main.it.go
        set main.it.seen = 'first'
        event main.it.a at (15, 0)
    (15, 0)
      run main.it.go
        set main.it.seen = 'second'
    (15, 1)
    """
)
class ReplaceOverwritesTheValueThatStillWaits(Reactor):
    it = _Replace()


class _Update(_Spaced):
    a = LogicalAction[str](min_spacing=10, policy="update")

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(5, "taken back")
        self.a.schedule(9, "first")
        self.a.schedule(30, "second")
        self.a.schedule(9, "slides")  # takes 30 back; an event is at (9, 0)

    @reaction(a, effects=["seen"])
    def go(self) -> None:
        self.seen.set(self.a.value)


@rule(
    """
    (0, 0)
      run main.it.start
        event main.it.a at (5, 0)
        event main.it.a at (9, 0)
        event main.it.a at (30, 0)
        event main.it.a at (9, 1)
    (9, 0)
      run main.it.go
        set main.it.seen = 'first'
    (9, 1)
      run main.it.go
        set main.it.seen = 'slides'
    (9, 2)
    """
)
class UpdateTakesTheEarlierEventBack(Reactor):
    it = _Update()


class _Monotonic(_Spaced):
    a = LogicalAction[str](min_spacing=0)

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(5, "a")
        self.a.schedule(5, "b")
        self.a.schedule(2, "c")
        self.a.schedule(6, "d")

    @reaction(a, effects=["seen"])
    def go(self) -> None:
        self.seen.set(self.a.value)


@rule(
    """
    (0, 0)
      run main.it.start
        event main.it.a at (5, 0)
        event main.it.a at (5, 1)
        event main.it.a at (5, 2)
        event main.it.a at (6, 0)
    (5, 0)
      run main.it.go
        set main.it.seen = 'a'
    (5, 1)
      run main.it.go
        set main.it.seen = 'b'
    (5, 2)
      run main.it.go
        set main.it.seen = 'c'
    (6, 0)
      run main.it.go
        set main.it.seen = 'd'
    (6, 1)
    """
)
class SpacingZeroKeepsTheOrderOfCalls(Reactor):
    it = _Monotonic()


class _Physical(Reactor):
    seen = Output[object]()
    a = PhysicalAction[str]()

    @reaction(a, effects=[seen])
    def go(self) -> None:
        self.seen.set(self.a.value)


@rule(
    """
    (3, 0)
      run main.it.go
        set main.it.seen = 'x'
    (3, 1)
      run main.it.go
        set main.it.seen = 'y'
    (9, 0)
    """,
    timeout=9,
    physical_events=(
        (Tag(3, 0), "main.it.a", "x"),
        (Tag(3, 1), "main.it.a", "y"),
        (Tag(10, 0), "main.it.a", "too late"),
    ),
)
class APhysicalActionKeepsAnIdleProgramAlive(Reactor):
    it = _Physical()
