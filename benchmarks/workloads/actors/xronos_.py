# SPDX-License-Identifier: Apache-2.0
"""Xronos: the same reactors, in the way of its examples."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos
from xronos.experimental import InputPort

from benchmarks.workloads.actors.parts import Copier, Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine


class Hub(xronos.Reactor):
    """Broadcasts, and gathers what comes back; its inputs are made at run time."""

    request = xronos.OutputPortDeclaration[Any]()

    def __init__(self, width: int, server: Server) -> None:
        super().__init__()
        self.server = server
        self.replies = [InputPort[Any](f"reply{i}", self) for i in range(width)]

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Send the first message."""
        context.add_trigger(self.startup)
        request = context.add_effect(self.request)
        return lambda: request.set(self.server.first)

    @xronos.reaction
    def gather(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Send the next one."""
        ports = [context.add_trigger(port) for port in self.replies]
        request = context.add_effect(self.request)

        def handler() -> None:
            replies = [port.get() for port in ports]
            if self.server.gather(replies):
                request.set(replies[0])

        return handler


class Actor(xronos.Reactor):
    """Answers."""

    request = xronos.InputPortDeclaration[Any]()
    reply = xronos.OutputPortDeclaration[Any]()

    def __init__(self, index: int) -> None:
        super().__init__()
        self.copier = Copier(index)

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Answer a message."""
        request = context.add_trigger(self.request)
        reply = context.add_effect(self.reply)
        return lambda: reply.set(self.copier.work(request.get()))


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the program in fast mode."""
    del engine
    environment = xronos.Environment(fast=True)
    server = Server(params["floats"], watch)
    hub = environment.create_reactor("hub", Hub, params["actors"], server)
    for index, port in enumerate(hub.replies):
        actor = environment.create_reactor(f"actor{index}", Actor, index)
        environment.connect(hub.request, actor.request, timedelta(0))
        environment.connect(actor.reply, port)
    environment.execute()
