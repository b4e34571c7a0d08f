# SPDX-License-Identifier: Apache-2.0
"""A ring of Xronos reactors."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos

from benchmarks.workloads.reactors.building import Building

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch


class Node(xronos.Reactor):
    """Takes the token and passes it on."""

    token = xronos.InputPortDeclaration[int]()
    following = xronos.OutputPortDeclaration[int]()

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        token = context.add_trigger(self.token)
        following = context.add_effect(self.following)

        def handler() -> None:
            self.count += 1
            following.set(token.get() + 1)

        return handler


class Hub(xronos.Reactor):
    """Starts the token and counts its laps."""

    token = xronos.InputPortDeclaration[int]()
    following = xronos.OutputPortDeclaration[int]()

    def __init__(self, watch: Watch, when_built: Callable[[], None]) -> None:
        super().__init__()
        self.tick = watch.tick
        self.when_built = when_built

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        context.add_trigger(self.startup)
        following = context.add_effect(self.following)

        def handler() -> None:
            self.when_built()
            following.set(0)

        return handler

    @xronos.reaction
    def again(self, context: xronos.ReactionContext) -> Callable[[], None]:
        token = context.add_trigger(self.token)
        following = context.add_effect(self.following)

        def handler() -> None:
            number = token.get()
            if self.tick(number):
                following.set(number & 0xFF)

        return handler


def run(params: dict[str, Any], watch: Watch, engine: Engine) -> dict[str, Any]:
    """Build the ring and run it in fast mode."""
    del engine
    building = Building()
    environment = xronos.Environment(fast=True)
    hub = environment.create_reactor("hub", Hub, watch, building.finished)
    last = hub.following
    for index in range(params["size"]):
        node = environment.create_reactor(f"node{index}", Node)
        environment.connect(last, node.token, timedelta(0))
        last = node.following
    environment.connect(last, hub.token, timedelta(0))
    environment.execute()
    return building.more
