# SPDX-License-Identifier: Apache-2.0
"""Two threads, or two processes, that step half of the environments each.

They never meet in a round, and nobody gathers what they see: the physical limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines import free_processes
from benchmarks.workloads.gym.parts import Player, actions, params_for
from benchmarks.engines.free_threads import Team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.engine import Engine


class Share:
    """Some of the environments, made by the thread that steps them."""

    def __init__(self, params: dict[str, Any], indices: range) -> None:
        self._players = [Player(index) for index in indices]
        for player in self._players:
            player.begin(params)
        self._table = [
            list(row[indices.start : indices.stop]) for row in actions(params)
        ]
        self._at = 0

    def round(self) -> None:
        """Step each of them."""
        row = self._table[self._at]
        self._at = (self._at + 1) % len(self._table)
        for player, action in zip(self._players, row, strict=True):
            player.step(action)

    def seen(self) -> Sequence[object]:
        """Return nothing: what is not gathered cannot be compared."""
        return []


class Work:
    """What is shared out."""

    def __init__(self, params: dict[str, Any]) -> None:
        self._params = params

    def share(self, part: int, parts: int) -> Share:
        """Return one thread's environments."""
        count = self._params["envs"]
        first, end = (count * p // parts for p in (part, part + 1))
        return Share(self._params, range(first, end))


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Let them run until the watch has had enough."""
    params = params_for(params, engine)
    work: Any = Work(params)
    if engine.options.get("placement") == "process":
        free_processes.run(work, watch, engine.workers)
    else:
        Team(work, watch, engine.workers).run()
    watch.digest = ""
