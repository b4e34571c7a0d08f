# SPDX-License-Identifier: Apache-2.0
"""Two threads that each do half of the copies, and never meet: the physical limit.

What a thread copies is what its first actor answered before, as with the engines: not
the same array again and again, which would stay in a cache. All copies of a round live
until the next one is done with them, so that memory is asked for and given back alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.actors.parts import Copier, Server
from benchmarks.engines.free_threads import Team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.engine import Engine


class Share:
    """Some of the actors, for a thread of its own."""

    def __init__(self, message: Any, indices: range) -> None:  # noqa: ANN401
        self._actors = [Copier(index) for index in indices]
        self._replies: list[Any] = []
        self._message = message

    def round(self) -> None:
        """Let each actor answer."""
        message = self._replies[0] if self._replies else self._message
        self._replies = [actor.work(message) for actor in self._actors]

    def seen(self) -> Sequence[object]:
        """Return a few numbers; what others compute also depends on the rounds."""
        return [repr(reply) for reply in self._replies]


class Work:
    """What the threads share: a message, and who answers it."""

    def __init__(self, params: dict[str, Any], message: Any) -> None:  # noqa: ANN401
        self._count = params["actors"]
        self._message = message

    def share(self, part: int, parts: int) -> Share:
        """Return one thread's part of the actors."""
        first, end = (self._count * p // parts for p in (part, part + 1))
        return Share(self._message, range(first, end))


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Let the threads run until the watch has had enough."""
    work: Any = Work(params, Server(params["floats"], watch).first)
    Team(work, watch, engine.workers).run()
    watch.digest = ""  # the message is never answered by a new one: nothing to compare
