# SPDX-License-Identifier: Apache-2.0
"""The actors of both kinds of Ray."""

from __future__ import annotations

from typing import Any

import ray

from benchmarks.engines import ray_cluster
from benchmarks.workloads.q_learning import parts


class Part:
    """A rollout or the replay buffer: actors of one class are used again."""

    def __init__(self, index: int) -> None:
        self._index = index

    def begin(self, params: dict[str, Any]) -> None:
        """Begin anew."""
        self._steps = params["steps"]
        if self._index == params["rollouts"]:
            self._replay = parts.Replay()
            self._replay.begin(params["batch"])
        else:
            self._rollout = parts.Rollout(self._index)

    def collect(self, weights: Any) -> Any:  # noqa: ANN401
        """Play with these weights."""
        return self._rollout.collect(self._steps, weights)

    def add_and_draw(self, *steps: Any) -> Any:  # noqa: ANN401
        """Keep steps, and draw a batch."""
        return self._replay.add_and_draw(*steps)


def make_actors(params: dict[str, Any]) -> tuple[list[Any], Any]:
    """Return the actors: rollouts, and the replay buffer."""
    actors = ray_cluster.actors(Part, params["rollouts"] + 1)
    ray.get([actor.begin.remote(params) for actor in actors])
    return actors[:-1], actors[-1]
