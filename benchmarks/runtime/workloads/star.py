# SPDX-License-Identifier: Apache-2.0
"""Star: a server broadcasts to its clients, they reply, it gathers, and again.

Empty bodies: what is measured is the runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.runtime.engines.plain import MultiPort, Plain, Port, bodies
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
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.runtime.watch import Watch


class Server(Reactor):
    """Sends a number to all and adds up what comes back."""

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
    """Sends back what it gets."""

    request = Input[int]()
    reply = Output[int]()

    @reaction(request, effects=[reply])
    def work(self) -> None:
        self.reply.set(self.request.value)


class Main(Reactor):
    """A server and its clients."""

    width: int = param()
    watch: Watch = param()

    server = Server(watch=watch)
    clients = bank(Client, width=width)

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

    (work,) = bodies(Client.work)

    def __init__(self) -> None:
        self.request = Port()
        self.reply = Port()


def loop(server: Any, clients: list[Any]) -> None:  # noqa: ANN401
    """Run a star without a runtime, client by client."""
    server.begin()
    request = server.request
    while request.is_present:
        request.is_present = False
        value = request.value
        for client in clients:
            client.request.set(value)
            client.work()
        server.gather()


def threaded_loop(
    server: Any,  # noqa: ANN401
    clients: list[Any],
    pool: ThreadPoolExecutor,
) -> None:
    """Run a star without a runtime, each client a task for the pool."""

    def work(client: Any) -> None:  # noqa: ANN401
        client.request.set(value)
        client.work()

    server.begin()
    request = server.request
    while request.is_present:
        request.is_present = False
        value = request.value
        for _ in pool.map(work, clients):
            pass
        server.gather()


class Star(Workload):
    """The workload, with ``width`` clients."""

    name = "star"
    compared_rounds = 500

    def __init__(self, width: int) -> None:
        self.width = width

    def ours(self, watch: Watch) -> Reactor:
        return Main(width=self.width, watch=watch)

    def plain(self, watch: Watch) -> None:
        loop(*self._without_runtime(watch))

    def futures(self, watch: Watch, pool: ThreadPoolExecutor) -> None:
        threaded_loop(*self._without_runtime(watch), pool)

    def _without_runtime(self, watch: Watch) -> tuple[PlainServer, list[PlainClient]]:
        clients = [PlainClient() for _ in range(self.width)]
        return PlainServer(watch, [client.reply for client in clients]), clients


def make(case: str, loops_per_us: float) -> Star:
    """Return a star with ``case`` clients."""
    del loops_per_us
    return Star(int(case))
