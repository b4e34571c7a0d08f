# SPDX-License-Identifier: Apache-2.0
"""Ping-pong in Xronos."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


class Ping(xronos.Reactor):
    """Serves, and returns the ball."""

    ball = xronos.OutputPortDeclaration[int]()
    back = xronos.InputPortDeclaration[int]()

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.tick = watch.tick

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.startup)
        ball = context.add_effect(self.ball)
        return lambda: ball.set(1)

    @xronos.reaction
    def play(self, context: xronos.ReactionContext) -> Callable[[], None]:
        back = context.add_trigger(self.back)
        ball = context.add_effect(self.ball)

        def handler() -> None:
            number = back.get()
            if self.tick(number):
                ball.set(number & 0xFF)

        return handler


class Pong(xronos.Reactor):
    """Returns the ball."""

    ball = xronos.InputPortDeclaration[int]()
    back = xronos.OutputPortDeclaration[int]()

    @xronos.reaction
    def play(self, context: xronos.ReactionContext) -> Callable[[], None]:
        ball = context.add_trigger(self.ball)
        back = context.add_effect(self.back)
        return lambda: back.set(ball.get() + 3)


def run(params: dict[str, Any], watch: Watch, engine: Engine) -> None:
    """Run the program in fast mode."""
    del params, engine
    environment = xronos.Environment(fast=True)
    ping = environment.create_reactor("ping", Ping, watch)
    pong = environment.create_reactor("pong", Pong)
    environment.connect(ping.ball, pong.ball)
    environment.connect(pong.back, ping.back, timedelta(0))
    environment.execute()
