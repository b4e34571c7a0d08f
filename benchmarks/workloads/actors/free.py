# SPDX-License-Identifier: Apache-2.0
"""Upper bound (no synchronization): two threads that each do half of the copies.

A thread copies the last reply of its first actor, as the engines do: not the same array
again and again, which would stay in a cache. All copies of a round live until the end
of the next one, so that memory is allocated and freed as in the engines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.free_threads import Team
from benchmarks.workloads.actors.parts import Copier, Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.engine import Engine


class Share:
    """The actors of one thread."""

    def __init__(self, message: Any, indices: range) -> None:  # noqa: ANN401
        self._actors = [Copier(index) for index in indices]
        self._replies: list[Any] = []
        self._message = message

    def round(self) -> None:
        """Let each actor reply."""
        message = self._replies[0] if self._replies else self._message
        self._replies = [actor.work(message) for actor in self._actors]

    def seen(self) -> Sequence[object]:
        """Return the replies, which are not compared."""
        return [repr(reply) for reply in self._replies]


class Work:
    """The first message, and the actors."""

    def __init__(self, params: dict[str, Any], message: Any) -> None:  # noqa: ANN401
        self._count = params["actors"]
        self._message = message

    def share(self, part: int, parts: int) -> Share:
        """Return the actors of one thread."""
        first, end = (self._count * p // parts for p in (part, part + 1))
        return Share(self._message, range(first, end))


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the threads."""
    work: Any = Work(params, Server(params["floats"], watch).first)
    Team(work, watch, engine.workers).run()
    watch.digest = ""  # messages do not pass between threads: nothing to compare
