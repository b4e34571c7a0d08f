# SPDX-License-Identifier: Apache-2.0
"""Upper bound (no synchronization): half of the environments for each worker.

Workers are threads or processes; their observations are not gathered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines import free_processes
from benchmarks.engines.free_threads import Team
from benchmarks.workloads.gym.parts import Player, actions, params_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.engine import Engine


class Share:
    """The environments of one worker, which makes them."""

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
        """Return nothing: observations are not gathered."""
        return []


class Work:
    """All environments."""

    def __init__(self, params: dict[str, Any]) -> None:
        self._params = params

    def share(self, part: int, parts: int) -> Share:
        """Return the environments of one worker."""
        count = self._params["envs"]
        first, end = (count * p // parts for p in (part, part + 1))
        return Share(self._params, range(first, end))


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Run the workers."""
    params = params_for(params, engine)
    work: Any = Work(params)
    if engine.options.get("placement") == "process":
        free_processes.run(work, watch, engine.workers)
    else:
        Team(work, watch, engine.workers).run()
    watch.digest = ""
