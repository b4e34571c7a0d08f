# SPDX-License-Identifier: Apache-2.0
"""Star: the server's inputs are made at run time, one per client."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import xronos
from xronos.experimental import InputPort

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.star import Star


class Server(xronos.Reactor):
    """Sends a number to all and adds up what comes back."""

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
    """Sends back what it gets."""

    request = xronos.InputPortDeclaration[int]()
    reply = xronos.OutputPortDeclaration[int]()

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        request = context.add_trigger(self.request)
        reply = context.add_effect(self.reply)
        return lambda: reply.set(request.get())


def build(environment: xronos.Environment, workload: Star, watch: Watch) -> None:
    """Put the program into ``environment``."""
    server = environment.create_reactor("server", Server, workload.width, watch)
    for index, port in enumerate(server.replies):
        client = environment.create_reactor(f"client{index}", Client)
        environment.connect(server.request, client.request, timedelta(0))
        environment.connect(client.reply, port)
