# SPDX-License-Identifier: Apache-2.0
"""A star whose clients have something to do: each owns a player and lets it step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.runtime.engines.plain import MultiPort, Plain, Port, bodies
from benchmarks.runtime.workloads import star
from benchmarks.runtime.workloads.workload import Workload
from reactorl import (
    Input,
    MultiInput,
    Output,
    Reactor,
    bank,
    param,
    reaction,
    startup,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.runtime.watch import Watch


class Player(Protocol):
    """What a client owns. Its numbers depend on its index alone."""

    def step(self) -> object:
        """Do a round's work and return what came out."""


class Server(Reactor):
    """Calls for a round and gathers what the players did."""

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


class Client(Reactor):
    """Creates its player at startup, where it will run."""

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
    """A server and clients with players."""

    width: int = param()
    watch: Watch = param()
    new_player: Callable[[int], Player] = param()

    server = Server(watch=watch)
    clients = bank(Client, width=width, new_player=new_player)

    def build(self) -> None:
        self.connect(self.server.request, self.clients.request, after=0, broadcast=True)
        self.connect(self.clients.reply, self.server.replies)


class PlainServer(Plain):
    """A server without a runtime."""

    setup, begin, gather = bodies(Server.setup, Server.begin, Server.gather)

    def __init__(self, watch: Watch, replies: list[Port]) -> None:
        self.watch = watch
        self.request = Port()
        self.replies = MultiPort(replies)
        self.setup()


class PlainClient(Plain):
    """A client without a runtime."""

    create, work = bodies(Client.create, Client.work)

    def __init__(self, index: int, new_player: Callable[[int], Player]) -> None:
        self.bank_index = index
        self.new_player = new_player
        self.request = Port()
        self.reply = Port()
        self.create()


class PlayerShare:
    """Some of the clients, for a thread of its own."""

    def __init__(self, clients: list[Any]) -> None:
        self._clients = clients

    def round(self) -> None:
        for client in self._clients:
            client.work()

    def seen(self) -> Sequence[object]:
        return [client.reply.value for client in self._clients]


class PlayerStar(Workload):
    """The workload, with ``width`` players."""

    def __init__(
        self,
        name: str,
        width: int,
        new_player: Callable[[int], Player],
        compared_rounds: int,
    ) -> None:
        self.name = name
        self.width = width
        self.new_player = new_player
        self.compared_rounds = compared_rounds

    def ours(self, watch: Watch) -> Reactor:
        return Main(width=self.width, watch=watch, new_player=self.new_player)

    def plain(self, watch: Watch) -> None:
        star.loop(*self._without_runtime(watch))

    def futures(self, watch: Watch, pool: ThreadPoolExecutor) -> None:
        star.threaded_loop(*self._without_runtime(watch), pool)

    def share(self, part: int, parts: int) -> PlayerShare:
        first, end = (self.width * p // parts for p in (part, part + 1))
        return PlayerShare(self._clients(range(first, end)))

    def _clients(self, indices: range) -> list[PlainClient]:
        return [PlainClient(index, self.new_player) for index in indices]

    def _without_runtime(self, watch: Watch) -> tuple[PlainServer, list[PlainClient]]:
        clients = self._clients(range(self.width))
        return PlainServer(watch, [client.reply for client in clients]), clients
