# SPDX-License-Identifier: Apache-2.0
"""Actors as objects, called one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.actors.parts import Copier, Server

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Call every actor, round after round."""
    del engine
    server = Server(params["floats"], watch)
    actors = [Copier(index) for index in range(params["actors"])]
    message = server.first
    while True:
        replies = [actor.work(message) for actor in actors]
        if not server.gather(replies):
            return
        message = replies[0]
        del replies  # as with other engines: gone before the next ones are made
