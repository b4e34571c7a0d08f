# SPDX-License-Identifier: Apache-2.0
"""Processes and pipes of ``multiprocessing``: one of each for a rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.engines.pipes import Processes
from benchmarks.workloads.q_learning.parts import Learner, Replay, Rollout

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Player:
    """The object in a process."""

    def __init__(self, params: dict[str, Any], index: int) -> None:
        self._steps = params["steps"]
        self._rollout = Rollout(index)

    def answer(self, weights: Any) -> Any:  # noqa: ANN401
        """Play with these weights."""
        return self._rollout.collect(self._steps, weights)

    def close(self) -> None:
        """Close the environment."""
        self._rollout.close()


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    replay, learner = Replay(), Learner(watch)
    replay.begin(params["batch"])
    with Processes(Player, params, params["rollouts"]) as processes:
        while True:
            steps = processes.ask_all(learner.weights)
            if not learner.learn(replay.add_and_draw(*steps)):
                break
    return learner.more()
