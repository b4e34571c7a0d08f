# SPDX-License-Identifier: Apache-2.0
"""Programs that threads and processes run as federates; both sides import this."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reactorl import (
    Input,
    Output,
    Reactor,
    Timer,
    elaborate,
    reaction,
    shutdown,
    startup,
)
from reactorl._program.cut import cut_program
from reactorl._program.placement import Federation
from reactorl._runtime.options import make_options


class Ticker(Reactor):
    """Sends its count every nanosecond."""

    out = Output[int]()
    timer = Timer(0, 1)

    def setup(self) -> None:
        self.count = 0

    @reaction(timer, effects=[out])
    def tick(self) -> None:
        self.count += 1
        self.out.set(self.count)


class Ping(Reactor):
    """Sends an array and gets it back within the tag."""

    back = Input[Any]()
    out = Output[Any]()
    timer = Timer(0, 1)

    def setup(self) -> None:
        self.count = 0

    @reaction(timer, effects=[out])
    def send(self) -> None:
        self.count += 1
        self.out.set(np.full(3, self.count))

    @reaction(back)
    def check(self) -> None:
        if list(self.back.value) != [self.count + 1] * 3:
            msg = f"got {self.back.value} after {self.count}"
            raise ValueError(msg)


class Pong(Reactor):
    x = Input[Any]()
    out = Output[Any]()

    @reaction(x, effects=[out])
    def reply(self) -> None:
        self.out.set(self.x.value + 1)


class PingPong(Reactor):
    ping = Ping()
    pong = Pong()

    def build(self) -> None:
        self.connect(self.ping.out, self.pong.x)
        self.connect(self.pong.out, self.ping.back)


class Relay(Reactor):
    """Passes on a number that counts the hops."""

    x = Input[int]()
    out = Output[int]()
    first = 0

    @reaction(startup, effects=[out])
    def begin(self) -> None:
        if self.first:
            self.out.set(self.first)

    @reaction(x, effects=[out])
    def hop(self) -> None:
        self.out.set(self.x.value + 1)


class FirstRelay(Relay):
    first = 1


class FanOut(Reactor):
    ping = Ping()
    pong = Pong()
    other = Pong()

    def build(self) -> None:
        self.connect(self.ping.out, self.pong.x)
        self.connect(self.ping.out, self.other.x)
        self.connect(self.pong.out, self.ping.back)


class DelayedLoop(Reactor):
    one = FirstRelay()
    two = Relay()

    def build(self) -> None:
        self.connect(self.one.out, self.two.x, after=3)
        self.connect(self.two.out, self.one.x, after=0)


class Judge(Reactor):
    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def see(self) -> None:
        self.out.set(self.x.value)
        if self.x.value == 7:
            self.request_stop()

    @reaction(shutdown, effects=[out])
    def end(self) -> None:
        self.out.set(-1)


class Watcher(Reactor):
    x = Input[int]()
    own = Timer(0, 2)

    @reaction(x, own)
    def see(self) -> None:
        pass

    @reaction(shutdown, x)
    def end(self) -> None:
        pass


class Stopping(Reactor):
    ticker = Ticker()
    judge = Judge()
    watcher = Watcher()

    def build(self) -> None:
        self.connect(self.ticker.out, self.judge.x)
        self.connect(self.judge.out, self.watcher.x)


class Passing(Reactor):
    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def see(self) -> None:
        self.out.set(self.x.value)


class EndlessChain(Reactor):
    ticker = Ticker()
    judge = Passing()
    watcher = Watcher()

    def build(self) -> None:
        self.connect(self.ticker.out, self.judge.x)
        self.connect(self.judge.out, self.watcher.x)


class Countdown(Reactor):
    """Passes a number on until it is 0; then nothing is left to do."""

    x = Input[int]()
    out = Output[int]()
    first = 0

    @reaction(startup, effects=[out])
    def begin(self) -> None:
        if self.first:
            self.out.set(self.first)

    @reaction(x, effects=[out])
    def count(self) -> None:
        if self.x.value:
            self.out.set(self.x.value - 1)


class FirstCountdown(Countdown):
    first = 9


class Starving(Reactor):
    one = FirstCountdown()
    two = Countdown()

    def build(self) -> None:
        self.connect(self.one.out, self.two.x, after=4)
        self.connect(self.two.out, self.one.x, after=1)


class OddError(Exception):
    """An exception that pickle cannot make again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


class Faulty(Reactor):
    x = Input[int]()
    at = 3

    @reaction(x)
    def fail(self) -> None:
        if self.x.value == self.at:
            raise self.error()

    def error(self) -> Exception:
        return ValueError("on purpose")


class FaultyLater(Faulty):
    at = 5


class FaultyOddly(Faulty):
    def error(self) -> Exception:
        return OddError(1, 2)


class Failing(Reactor):
    """Both fail; the first one by tags is the one whose connection has a delay."""

    ticker = Ticker()
    early = Faulty()
    late = FaultyLater()

    def build(self) -> None:
        self.connect(self.ticker.out, self.early.x, after=1)
        self.connect(self.ticker.out, self.late.x)


class FailingOddly(Reactor):
    ticker = Ticker()
    odd = FaultyOddly()

    def build(self) -> None:
        self.connect(self.ticker.out, self.odd.x)


class Unready(Reactor):
    """Cannot even begin."""

    x = Input[int]()

    def setup(self) -> None:
        msg = "no device"
        raise OSError(msg)

    @reaction(x)
    def see(self) -> None:
        pass


class FailingSetup(Reactor):
    ticker = Ticker()
    unready = Unready()

    def build(self) -> None:
        self.connect(self.ticker.out, self.unready.x)


class Sender(Reactor):
    """Sends what cannot be pickled."""

    out = Output[Any]()

    @reaction(startup, effects=[out])
    def send(self) -> None:
        self.out.set(generator for generator in ())


class Unsendable(Reactor):
    sender = Sender()
    pong = Pong()

    def build(self) -> None:
        self.connect(self.sender.out, self.pong.x)


@dataclass(frozen=True)
class Case:
    """A program, its placement, and options of the run."""

    main: type[Reactor]
    placement: dict[str, str] | int
    options: dict[str, Any] = field(default_factory=dict)
    window: int | None = None

    def parts(self) -> tuple[Any, Any, Any]:
        """Return the program, its cut and the options of a run."""
        program = elaborate(self.main)
        cut = cut_program(program, Federation(self.placement))
        given: dict[str, Any] = {
            "workers": 1,
            "timeout": None,
            "keepalive": None,
            "seed": 5,
            "start_time": None,
            "trace": True,
            "check": False,
            "freeze": None,
            "shuffle": 0,
            "stay_home": False,
            "fast": True,
            **self.options,
        }
        return program, cut, make_options(program, **given)


EVERYWHERE = {"main.ticker": "a", "main.judge": "b", "main.watcher": "c"}
CASES = {
    "ping-pong": Case(PingPong, {"main.pong": "b"}, {"timeout": 50}),
    "fan-out": Case(FanOut, {"main.pong": "b", "main.other": "c"}, {"timeout": 20}),
    "delayed loop": Case(
        DelayedLoop, {"main.one": "a", "main.two": "b"}, {"timeout": 40}
    ),
    "stop": Case(Stopping, EVERYWHERE),
    "stop, two workers": Case(Stopping, EVERYWHERE, {"workers": 2}),
    "starvation": Case(Starving, {"main.one": "a", "main.two": "b"}),
    "window": Case(Stopping, EVERYWHERE, {}, 2),
}
"""These end without an error."""

FAILURES = {
    "failing": Case(Failing, {"main.early": "a", "main.late": "b"}, {}, 4),
    "failing oddly": Case(FailingOddly, {"main.odd": "a"}, {}, 4),
    "failing setup": Case(FailingSetup, {"main.unready": "a"}, {}, 4),
}
ENDLESS = {
    "endless": Case(PingPong, {"main.pong": "b"}),
    "endless chain": Case(EndlessChain, EVERYWHERE, {}, 20),
}
OTHERS = {"unsendable": Case(Unsendable, {"main.pong": "b"})}
ALL = {**CASES, **FAILURES, **ENDLESS, **OTHERS}


class Sleeper(Reactor):
    """Takes its time, so that something can happen to the run."""

    x = Input[int]()
    out = Output[int]()

    @reaction(x, effects=[out])
    def see(self) -> None:
        time.sleep(0.02)
        self.out.set(self.x.value)


class SlowChain(Reactor):
    ticker = Ticker()
    judge = Sleeper()
    watcher = Watcher()

    def build(self) -> None:
        self.connect(self.ticker.out, self.judge.x)
        self.connect(self.judge.out, self.watcher.x)


SLOW_CASE = Case(SlowChain, {"main.judge": "b", "main.watcher": "c"}, {"timeout": 500})
