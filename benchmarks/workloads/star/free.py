# SPDX-License-Identifier: Apache-2.0
"""The clients on threads without synchronization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.free_threads import Team
from benchmarks.workloads.star.plain import clients

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Share:
    """The clients of one thread."""

    def __init__(self, made: list[Any]) -> None:
        self._clients = made

    def round(self) -> None:
        for client in self._clients:
            client.work()

    def seen(self) -> list[object]:
        return [client.reply.value for client in self._clients]


class Work:
    """All clients."""

    def __init__(self, params: dict[str, Any]) -> None:
        self._params = params

    def share(self, part: int, parts: int) -> Share:
        count = self._params["clients"]
        first, end = (count * p // parts for p in (part, part + 1))
        return Share(clients(self._params, range(first, end)))


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the threads."""
    Team(Work(params), watch, params.get("workers") or engine.workers).run()
