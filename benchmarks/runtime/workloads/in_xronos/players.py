# SPDX-License-Identifier: Apache-2.0
"""A star whose clients own players."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos
from xronos.experimental import InputPort

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.players import Player, PlayerStar


class Server(xronos.Reactor):
    """Calls for a round and gathers what the players did."""

    request = xronos.OutputPortDeclaration[int]()

    def __init__(self, width: int, watch: Watch) -> None:
        super().__init__()
        self.tick = watch.tick
        self.count = 0
        self.replies = [InputPort[Any](f"reply{i}", self) for i in range(width)]

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.startup)
        request = context.add_effect(self.request)
        return lambda: request.set(0)

    @xronos.reaction
    def gather(self, context: xronos.ReactionContext) -> Callable[[], None]:
        replies = [context.add_trigger(port) for port in self.replies]
        request = context.add_effect(self.request)

        def handler() -> None:
            self.count += 1
            if self.tick([reply.get() for reply in replies]):
                request.set(self.count)

        return handler


class Client(xronos.Reactor):
    """Creates its player at startup."""

    request = xronos.InputPortDeclaration[int]()
    reply = xronos.OutputPortDeclaration[Any]()

    def __init__(self, index: int, new_player: Callable[[int], Player]) -> None:
        super().__init__()
        self.index = index
        self.new_player = new_player

    @xronos.reaction
    def create(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.startup)

        def handler() -> None:
            self.player = self.new_player(self.index)

        return handler

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.request)
        reply = context.add_effect(self.reply)
        return lambda: reply.set(self.player.step())


def build(environment: xronos.Environment, workload: PlayerStar, watch: Watch) -> None:
    """Put the program into ``environment``."""
    server = environment.create_reactor("server", Server, workload.width, watch)
    for index, port in enumerate(server.replies):
        client = environment.create_reactor(
            f"client{index}", Client, index, workload.new_player
        )
        environment.connect(server.request, client.request, timedelta(0))
        environment.connect(client.reply, port)
