# SPDX-License-Identifier: Apache-2.0
"""Tags, timers, startup, and the end of a program."""

from __future__ import annotations

from reactorl import (
    Input,
    LogicalAction,
    Output,
    Reactor,
    Timer,
    reaction,
    shutdown,
    startup,
)
from tests.programs.rule import rule


@rule(
    """
    (0, 0)
      run main.start
        event main.a at (0, 1)
    (0, 1)
      run main.step
        event main.b at (5, 0)
    (5, 0)
      run main.done
    (5, 1)
    """
)
class APositiveDelayForgetsTheMicrostep(Reactor):
    a = LogicalAction[None]()
    b = LogicalAction[None]()

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule()

    @reaction(a, effects=[b])
    def step(self) -> None:
        self.b.schedule(5)

    @reaction(b)
    def done(self) -> None:
        assert self.elapsed == 5


class _Clock(Reactor):
    out = Output[int]()
    once = Timer()
    late = Timer(3)
    beat = Timer(2, 4)
    again = LogicalAction[None]()

    def setup(self) -> None:
        self.count = 0

    @reaction(startup, once, late, beat, effects=[out, again])
    def tick(self) -> None:
        self.count += 1
        self.out.set(self.count)
        self.again.schedule()

    @reaction(again)
    def next_microstep(self) -> None:
        assert self.tag.microstep == 1


@rule(
    """
    (0, 0)
      run main.clock.tick
        set main.clock.out = 1
        event main.clock.again at (0, 1)
    (0, 1)
      run main.clock.next_microstep
    (2, 0)
      run main.clock.tick
        set main.clock.out = 2
        event main.clock.again at (2, 1)
    (2, 1)
      run main.clock.next_microstep
    (3, 0)
      run main.clock.tick
        set main.clock.out = 3
        event main.clock.again at (3, 1)
    (3, 1)
      run main.clock.next_microstep
    (6, 0)
      run main.clock.tick
        set main.clock.out = 4
        event main.clock.again at (6, 1)
    (6, 1)
      run main.clock.next_microstep
    (10, 0)
      run main.clock.tick
        set main.clock.out = 5
        event main.clock.again dropped
    """,
    timeout=10,
)
class TimersAreExactAndOneReactionRunsOncePerTag(Reactor):
    clock = _Clock()


class _Both(Reactor):
    seen = Output[object]()
    timer = Timer(5)
    action = LogicalAction[str]()

    @reaction(startup, effects=[action])
    def start(self) -> None:
        self.action.schedule(5, "x")

    @reaction(timer, action, effects=[seen])
    def both(self) -> None:
        self.seen.set(self.action.is_present)


@rule(
    """
    (0, 0)
      run main.it.start
        event main.it.action at (5, 0)
    (5, 0)
      run main.it.both
        set main.it.seen = True
    (5, 1)
    """
)
class AllEventsOfATagArePoppedBeforeAnythingRuns(Reactor):
    it = _Both()


class _Ends(Reactor):
    out = Output[str]()
    beat = Timer(0, 4)
    again = LogicalAction[None]()

    @reaction(beat, effects=[out, again])
    def tick(self) -> None:
        self.again.schedule()
        self.out.set("tick")

    @reaction(again)
    def microstep(self) -> None:
        pass

    @reaction(shutdown, effects=[out, again])
    def end(self) -> None:
        self.out.set("end")
        self.again.schedule()


class _Sees(Reactor):
    x = Input[str]()

    @reaction(x)
    def see(self) -> None:
        assert self.x.is_present


@rule(
    """
    (0, 0)
      run main.it.tick
        set main.it.out = 'tick'
        event main.it.again at (0, 1)
      run main.sink.see
    (0, 1)
      run main.it.microstep
    (4, 0)
      run main.it.tick
        set main.it.out = 'tick'
        event main.it.again dropped
      run main.it.end
        set main.it.out = 'end'
        event main.it.again dropped
      run main.sink.see
    """,
    timeout=4,
)
class TheTimeoutTagRunsInFullAndNothingAfterIt(Reactor):
    it = _Ends()
    sink = _Sees()

    def build(self) -> None:
        self.connect(self.it.out, self.sink.x)


@rule(
    """
    (0, 0)
      run main.it.tick
        set main.it.out = 'tick'
        event main.it.again dropped
      run main.it.end
        set main.it.out = 'end'
        event main.it.again dropped
      run main.sink.see
    """,
    timeout=0,
)
class TimeoutZeroPutsStartAndEndTogether(Reactor):
    it = _Ends()
    sink = _Sees()

    def build(self) -> None:
        self.connect(self.it.out, self.sink.x)


@rule(
    """
    (0, 0)
      run main.start
        event main.a at (7, 0)
    (7, 0)
      run main.go
    (7, 1)
      run main.end
    """,
    timeout=1000,
)
class StarvationDoesNotWaitForTheTimeout(Reactor):
    a = LogicalAction[None]()

    @reaction(startup, effects=[a])
    def start(self) -> None:
        self.a.schedule(7)

    @reaction(a)
    def go(self) -> None:
        pass

    @reaction(shutdown)
    def end(self) -> None:
        pass


@rule(
    """
    (0, 0)
      run main.start
        event main.a at (7, 0)
    (7, 0)
      run main.go
    (1000, 0)
      run main.end
    """,
    timeout=1000,
    keepalive=True,
)
class KeepaliveWaitsForTheTimeout(StarvationDoesNotWaitForTheTimeout):
    pass


@rule(
    """
    (0, 0)
      run main.start
        event main.soon at (0, 1)
        event main.soon at (0, 2)
        event main.late at (5, 0)
    (0, 1)
      run main.go
        event main.soon dropped
      run main.end
    """
)
class AStopRequestLetsTheNextMicrostepRunWithShutdown(Reactor):
    soon = LogicalAction[None]()
    late = LogicalAction[None]()

    @reaction(startup, effects=[soon, late])
    def start(self) -> None:
        self.request_stop()
        self.soon.schedule()
        self.soon.schedule()
        self.late.schedule(5)

    @reaction(soon, effects=[soon])
    def go(self) -> None:
        self.request_stop()  # too late to matter
        self.soon.schedule()

    @reaction(shutdown)
    def end(self) -> None:
        pass


@rule(
    """
    (0, 0)
      run main.start
    (0, 1)
      run main.end
    """,
    timeout=50,
    start_time=1_000_000,
)
class TimeCountsFromTheStart(Reactor):
    @reaction(startup)
    def start(self) -> None:
        assert (self.elapsed, self.logical_time) == (0, self.start_time)
        assert self.tag == (self.start_time, 0)

    @reaction(shutdown)
    def end(self) -> None:
        assert self.tag == (self.start_time, 1)
