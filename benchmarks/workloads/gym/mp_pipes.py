# SPDX-License-Identifier: Apache-2.0
"""Processes and pipes of ``multiprocessing``: one of each for an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.pipes import Processes
from benchmarks.workloads.gym.parts import Player, Sight, params_for, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.engine import Engine


class Environment:
    """The object in a process."""

    def __init__(self, params: dict[str, Any], index: int) -> None:
        self._player = Player(index)
        self._player.begin(params)
        self.answer: Callable[[Any], Any] = self._player.step

    def close(self) -> None:
        """Close the environment."""
        self._player.close()


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Send an action to each, receive a result from each, round after round."""
    params = params_for(params, engine)
    sight = Sight(watch, params)
    with Processes(Environment, params, params["envs"]) as processes:
        for row in rows(params):
            if not sight.results(processes.ask_each(row)):
                break
    return sight.more()
