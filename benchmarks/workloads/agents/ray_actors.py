# SPDX-License-Identifier: Apache-2.0
"""Ray actors: a policy each, the environment in the driver, as in the paper.

As docs.ray.io, "Design Patterns & Anti-patterns", recommends: observations are put into
the object store once and their reference is passed to all (pass-large-arg-by-value),
and ``ray.get`` gets all actions at once (ray-get-loop).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray

from benchmarks.engines import ray_cluster
from benchmarks.workloads.agents.parts import Policy, World

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Play until the watch has enough slices."""
    del engine
    world = World(params, watch)
    actors = ray_cluster.actors(Policy, params["agents"])
    ray.get([actor.begin.remote(params) for actor in actors])
    while True:
        seen = ray.put(world.observations)
        actions = ray.get([actor.act.remote(seen) for actor in actors])
        if not world.step(actions):
            return
