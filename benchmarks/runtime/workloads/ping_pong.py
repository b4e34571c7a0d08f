# SPDX-License-Identifier: Apache-2.0
"""Ping-pong: two reactors, one value to and fro; nothing can overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runtime.engines.plain import Plain, Port, bodies
from benchmarks.runtime.workloads.workload import Workload
from reactorl import Input, Output, Reactor, param, reaction, startup

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.runtime.watch import Watch


class Ping(Reactor):
    """Serves, and plays back what returns."""

    ball = Output[int]()
    back = Input[int]()
    watch: Watch = param()

    def setup(self) -> None:
        self.tick = self.watch.tick

    @reaction(startup, effects=[ball])
    def begin(self) -> None:
        self.ball.set(1)

    @reaction(back, effects=[ball])
    def play(self) -> None:
        number = self.back.value
        if self.tick(number):
            self.ball.set(number & 0xFF)


class Pong(Reactor):
    """Plays everything back."""

    ball = Input[int]()
    back = Output[int]()

    @reaction(ball, effects=[back])
    def play(self) -> None:
        self.back.set(self.ball.value + 3)


class Main(Reactor):
    """Two players; the way back takes a microstep."""

    watch: Watch = param()

    ping = Ping(watch=watch)
    pong = Pong()

    def build(self) -> None:
        self.connect(self.ping.ball, self.pong.ball)
        self.connect(self.pong.back, self.ping.back, after=0)


class PlainPing(Plain):
    """Ping without a runtime."""

    setup, begin, play = bodies(Ping.setup, Ping.begin, Ping.play)

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.ball = Port()
        self.back = Port()
        self.setup()


class PlainPong(Plain):
    """Pong without a runtime."""

    (play,) = bodies(Pong.play)

    def __init__(self, ball: Port) -> None:
        self.ball = ball
        self.back = Port()


class PingPong(Workload):
    """The workload."""

    name = "ping_pong"
    compared_rounds = 1_000

    def ours(self, watch: Watch) -> Reactor:
        return Main(watch=watch)

    def plain(self, watch: Watch) -> None:
        ping = PlainPing(watch)
        pong = PlainPong(ping.ball)
        ball = ping.ball
        ping.begin()
        while ball.is_present:
            pong.play()
            ball.is_present = False
            ping.back.set(pong.back.value)
            ping.play()

    def futures(self, watch: Watch, pool: ThreadPoolExecutor) -> None:
        ping = PlainPing(watch)
        pong = PlainPong(ping.ball)
        ball = ping.ball
        ping.begin()
        while ball.is_present:
            pool.submit(pong.play).result()
            ball.is_present = False
            ping.back.set(pong.back.value)
            pool.submit(ping.play).result()


def make(case: str, loops_per_us: float) -> PingPong:
    """Return the workload; it has one case."""
    del case, loops_per_us
    return PingPong()
