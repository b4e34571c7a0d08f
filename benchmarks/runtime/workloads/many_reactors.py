# SPDX-License-Identifier: Apache-2.0
"""Many reactors: what it takes to make them, to keep them, and to reach one of them.

Small reactors in a ring pass a token; each hop is an event at a microstep of its own.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmarks.runtime.engines.plain import Plain, Port, bodies
from benchmarks.runtime.memory import memory_in_use
from benchmarks.runtime.workloads.workload import Workload
from reactorl import Input, Output, Reactor, bank, param, reaction, startup

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runtime.watch import Watch


class Node(Reactor):
    """Takes the token and passes it on."""

    token = Input[int]()
    following = Output[int]()

    def setup(self) -> None:
        self.count = 0

    @reaction(token, effects=[following])
    def work(self) -> None:
        self.count += 1
        self.following.set(self.token.value + 1)


class Hub(Reactor):
    """Starts the token and counts its laps."""

    token = Input[int]()
    following = Output[int]()
    watch: Watch = param()
    when_built: Callable[[], None] = param()

    def setup(self) -> None:
        self.tick = self.watch.tick

    @reaction(startup, effects=[following])
    def begin(self) -> None:
        self.when_built()
        self.following.set(0)

    @reaction(token, effects=[following])
    def again(self) -> None:
        number = self.token.value
        if self.tick(number):
            self.following.set(number & 0xFF)


class Main(Reactor):
    """A ring of a hub and nodes."""

    size: int = param()
    watch: Watch = param()
    when_built: Callable[[], None] = param()

    hub = Hub(watch=watch, when_built=when_built)
    nodes = bank(Node, width=size)

    def build(self) -> None:
        self.connect(
            [self.hub.following, self.nodes.following],
            [self.nodes.token, self.hub.token],
            after=0,
        )


class Bare:
    """The Python object of a node alone: the attributes it has, and nothing in them."""

    def __init__(self) -> None:
        self.token = None
        self.following = None
        self.count = 0


class PlainNode(Plain):
    """A node without a runtime."""

    setup, work = bodies(Node.setup, Node.work)

    def __init__(self) -> None:
        self.token = Port()
        self.following = Port()
        self.setup()


class PlainHub(Plain):
    """A hub without a runtime."""

    setup, begin, again = bodies(Hub.setup, Hub.begin, Hub.again)

    def __init__(self, watch: Watch, when_built: Callable[[], None]) -> None:
        self.watch = watch
        self.when_built = when_built
        self.token = Port()
        self.following = Port()
        self.setup()


class ManyReactors(Workload):
    """The workload, with ``size`` reactors."""

    name = "many_reactors"
    unit = "event"
    compared_rounds = 1

    def __init__(self, size: int) -> None:
        self.size = size
        self.units_per_round = size + 1
        self._found: dict[str, Any] = {}

    def ours(self, watch: Watch) -> Reactor:
        self.begin_building()
        return Main(size=self.size, watch=watch, when_built=self.when_built)

    def plain(self, watch: Watch) -> None:
        self.begin_building()
        bare = [Bare() for _ in range(self.size)]
        self.when_built()
        del bare
        hub = PlainHub(watch, lambda: None)
        nodes = [PlainNode() for _ in range(self.size)]
        hub.begin()
        while hub.following.is_present:
            hub.following.is_present = False
            value = hub.following.value
            for node in nodes:
                node.token.set(value)
                node.work()
                value = node.following.value
            hub.token.set(value)
            hub.again()

    def begin_building(self) -> None:
        """Note how much memory there was, and when it began."""
        self._before = memory_in_use()
        self._cpu = time.process_time()
        self._began = time.perf_counter()

    def when_built(self) -> None:
        """Note what building took; called from the first reaction."""
        self._found["build_seconds"] = time.perf_counter() - self._began
        self._found["build_cpu_seconds"] = time.process_time() - self._cpu
        self._found["memory"] = memory_in_use() - self._before

    def finish(self, watch: Watch) -> dict[str, Any]:
        """Return what building took."""
        del watch
        return self._found


def make(case: str, loops_per_us: float) -> ManyReactors:
    """Return a ring of ``case`` reactors."""
    del loops_per_us
    return ManyReactors(int(case))
