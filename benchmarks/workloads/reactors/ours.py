# SPDX-License-Identifier: Apache-2.0
"""A ring of reactors that pass a token; each hop is an event at its own microstep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.ours import run_program
from benchmarks.workloads.reactors.building import Building
from reactorl import Input, Output, Reactor, bank, param, reaction, startup

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


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


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program."""
    building = Building()
    main = Main(size=params["size"], watch=watch, when_built=building.finished)
    return run_program(main, engine) | building.more
