# SPDX-License-Identifier: Apache-2.0
"""Ray actors: one for each environment, as in the paper.

All calls are made before the first result is needed, and ``ray.get`` gets all at once:
docs.ray.io, "Design Patterns & Anti-patterns", ray-get-loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray

from benchmarks.engines import ray_cluster
from benchmarks.workloads.gym.parts import Player, Sight, params_for, rows

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Step every actor and gather, round after round."""
    params = params_for(params, engine)
    sight = Sight(watch, params)
    actors = ray_cluster.actors(Player, params["envs"])
    ray.get([actor.begin.remote(params) for actor in actors])
    for row in rows(params):
        called = [
            actor.step.remote(action) for actor, action in zip(actors, row, strict=True)
        ]
        if not sight.results(ray.get(called)):
            break
    ray.get([actor.close.remote() for actor in actors])
    return sight.more()
