# SPDX-License-Identifier: Apache-2.0
"""A ring of Xronos reactors, in the way of its examples."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import xronos

from benchmarks.runtime.memory import memory_in_use

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.evidence.engines import Engine


class Node(xronos.Reactor):
    """Takes the token and passes it on."""

    token = xronos.InputPortDeclaration[int]()
    following = xronos.OutputPortDeclaration[int]()

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @xronos.reaction
    def work(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Pass it on."""
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

    def __init__(self, watch: Any, when_built: Callable[[], None]) -> None:  # noqa: ANN401
        super().__init__()
        self.watch = watch
        self.when_built = when_built

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Send the token."""
        context.add_trigger(self.startup)
        following = context.add_effect(self.following)

        def handler() -> None:
            self.when_built()
            following.set(0)

        return handler

    @xronos.reaction
    def again(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Send it again."""
        token = context.add_trigger(self.token)
        following = context.add_effect(self.following)

        def handler() -> None:
            number = token.get()
            if self.watch.tick(number):
                following.set(number & 0xFF)

        return handler


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Build the ring and run it in fast mode."""
    del engine
    found: dict[str, Any] = {}
    before, began = memory_in_use(), time.perf_counter()

    def when_built() -> None:
        found["build_seconds"] = time.perf_counter() - began
        found["memory"] = memory_in_use() - before

    environment = xronos.Environment(fast=True)
    hub = environment.create_reactor("hub", Hub, watch, when_built)
    last = hub.following
    for index in range(params["size"]):
        node = environment.create_reactor(f"node{index}", Node)
        environment.connect(last, node.token, timedelta(0))
        last = node.following
    environment.connect(last, hub.token, timedelta(0))
    environment.execute()
    return found
