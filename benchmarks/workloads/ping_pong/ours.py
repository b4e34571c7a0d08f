# SPDX-License-Identifier: Apache-2.0
"""Ping-pong as reactors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.ours import run_program
from reactorl import Input, Output, Reactor, param, reaction, startup

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


class Ping(Reactor):
    """Serves, and returns the ball."""

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
    """Returns the ball."""

    ball = Input[int]()
    back = Output[int]()

    @reaction(ball, effects=[back])
    def play(self) -> None:
        self.back.set(self.ball.value + 3)


class Main(Reactor):
    """Two players; the way back takes one microstep."""

    watch: Watch = param()

    ping = Ping(watch=watch)
    pong = Pong()

    def build(self) -> None:
        self.connect(self.ping.ball, self.pong.ball)
        self.connect(self.pong.back, self.ping.back, after=0)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program."""
    del params
    return run_program(Main(watch=watch), engine)
