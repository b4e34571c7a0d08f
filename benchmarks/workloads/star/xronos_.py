# SPDX-License-Identifier: Apache-2.0
"""The star in Xronos: the server's inputs are made at run time, one per client.

Programs for Xronos are written like its examples: handlers that close over triggers and
effects.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos
from xronos.experimental import InputPort

from benchmarks.workloads.star.players import player_maker

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch
    from benchmarks.workloads.star.players import Player


class Server(xronos.Reactor):
    """Sends a number to all and adds up the replies."""

    request = xronos.OutputPortDeclaration[int]()

    def __init__(self, width: int, watch: Watch) -> None:
        super().__init__()
        self.tick = watch.tick
        self.total = 0
        self.replies = [InputPort[int](f"reply{i}", self) for i in range(width)]

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.startup)
        request = context.add_effect(self.request)
        return lambda: request.set(1)

    @xronos.reaction
    def gather(self, context: xronos.ReactionContext) -> Callable[[], None]:
        replies = [context.add_trigger(port) for port in self.replies]
        request = context.add_effect(self.request)

        def handler() -> None:
            self.total += sum([reply.get() for reply in replies])
            if self.tick(self.total):
                request.set(self.total & 0xFF)

        return handler


class Client(xronos.Reactor):
    """Replies with the request."""

    request = xronos.InputPortDeclaration[int]()
    reply = xronos.OutputPortDeclaration[int]()

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        request = context.add_trigger(self.request)
        reply = context.add_effect(self.reply)
        return lambda: reply.set(request.get())


class PlayerServer(xronos.Reactor):
    """Requests a round and gathers the results of the players."""

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


class PlayerClient(xronos.Reactor):
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


def run(params: dict[str, Any], watch: Watch, engine: Engine) -> None:
    """Run the program in fast mode."""
    del engine
    new_player = player_maker(params)
    kind: Any = Server if new_player is None else PlayerServer
    environment = xronos.Environment(fast=True)
    server = environment.create_reactor("server", kind, params["clients"], watch)
    for index, port in enumerate(server.replies):
        name = f"client{index}"
        client: Any = (
            environment.create_reactor(name, Client)
            if new_player is None
            else environment.create_reactor(name, PlayerClient, index, new_player)
        )
        environment.connect(server.request, client.request, timedelta(0))
        environment.connect(client.reply, port)
    environment.execute()
