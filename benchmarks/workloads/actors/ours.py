# SPDX-License-Identifier: Apache-2.0
"""Actors as a bank of reactors around a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reactorl
from benchmarks.workloads.actors.parts import Copier, Server
from reactorl import Input, MultiInput, Output, Reactor, bank, param, reaction, startup

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Hub(Reactor):
    """Broadcasts, and gathers the replies."""

    request = Output[Any]()
    replies = MultiInput[Any]()
    server: Server = param()

    @reaction(startup, effects=[request])
    def begin(self) -> None:
        """Send the first message."""
        self.request.set(self.server.first)

    @reaction(replies, effects=[request])
    def gather(self) -> None:
        """Send the next one."""
        replies = self.replies.values()
        if self.server.gather(replies):
            self.request.set(replies[0])


class Actor(Reactor):
    """Replies."""

    request = Input[Any]()
    reply = Output[Any]()

    def setup(self) -> None:
        """Make the actor."""
        self.copier = Copier(self.bank_index)

    @reaction(request, effects=[reply])
    def work(self) -> None:
        """Reply to a message."""
        self.reply.set(self.copier.work(self.request.value))


class Main(Reactor):
    """A hub and its actors."""

    width: int = param()
    server: Server = param()

    hub = Hub(server=server)
    actors = bank(Actor, width=width)

    def build(self) -> None:
        """Connect them."""
        self.connect(self.hub.request, self.actors.request, after=0, broadcast=True)
        self.connect(self.actors.reply, self.hub.replies)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program until the watch has enough slices."""
    server = Server(params["floats"], watch)
    program = Main(width=params["actors"], server=server)
    result = reactorl.run(program, workers=engine.workers, fast=True)
    return {"tags": result.tags, "shared_tags": result.shared_tags}
