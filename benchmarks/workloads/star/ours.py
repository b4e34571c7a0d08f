# SPDX-License-Identifier: Apache-2.0
"""The star as reactors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.ours import run_program
from benchmarks.workloads.star.players import player_maker
from reactorl import Input, MultiInput, Output, Reactor, param, reaction, startup

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch
    from benchmarks.workloads.star.players import Player


class Server(Reactor):
    """Sends a number to all and adds up the replies."""

    request = Output[int]()
    replies = MultiInput[int]()
    watch: Watch = param()

    def setup(self) -> None:
        self.tick = self.watch.tick
        self.total = 0

    @reaction(startup, effects=[request])
    def begin(self) -> None:
        self.request.set(1)

    @reaction(replies, effects=[request])
    def gather(self) -> None:
        self.total += sum(self.replies.values())
        if self.tick(self.total):
            self.request.set(self.total & 0xFF)


class Client(Reactor):
    """Replies with the request."""

    request = Input[int]()
    reply = Output[int]()

    @reaction(request, effects=[reply])
    def work(self) -> None:
        self.reply.set(self.request.value)


class PlayerServer(Reactor):
    """Requests a round and gathers the results of the players."""

    request = Output[int]()
    replies = MultiInput[Any]()
    watch: Watch = param()

    def setup(self) -> None:
        self.tick = self.watch.tick
        self.count = 0

    @reaction(startup, effects=[request])
    def begin(self) -> None:
        self.request.set(0)

    @reaction(replies, effects=[request])
    def gather(self) -> None:
        self.count += 1
        if self.tick(self.replies.values()):
            self.request.set(self.count)


class PlayerClient(Reactor):
    """Creates its player at startup, on the worker that will run it."""

    request = Input[int]()
    reply = Output[Any]()
    new_player: Callable[[int], Player] = param()

    @reaction(startup)
    def create(self) -> None:
        self.player = self.new_player(self.bank_index)

    @reaction(request, effects=[reply])
    def work(self) -> None:
        self.reply.set(self.player.step())


class Main(Reactor):
    """A server and its clients."""

    width: int = param()
    watch: Watch = param()
    new_player: Callable[[int], Player] | None = param()

    def build(self) -> None:
        if self.new_player is None:
            server: Any = self.add("server", Server, watch=self.watch)
            clients: Any = self.add_bank("clients", Client, width=self.width)
        else:
            server = self.add("server", PlayerServer, watch=self.watch)
            clients = self.add_bank(
                "clients", PlayerClient, width=self.width, new_player=self.new_player
            )
        self.connect(server.request, clients.request, after=0, broadcast=True)
        self.connect(clients.reply, server.replies)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program."""
    main = Main(width=params["clients"], watch=watch, new_player=player_maker(params))
    return run_program(main, engine, params.get("workers"))
