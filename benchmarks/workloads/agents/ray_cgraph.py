# SPDX-License-Identifier: Apache-2.0
"""Ray Compiled Graphs: observations go to all actors, their actions to the driver.

https://docs.ray.io/en/latest/ray-core/compiled-graph/quickstart.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray
from ray.dag import InputNode, MultiOutputNode

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
    with InputNode() as seen:
        graph = MultiOutputNode([actor.act.bind(seen) for actor in actors])
    compiled = graph.experimental_compile(_max_inflight_executions=1)
    try:
        while world.step(ray.get(compiled.execute(world.observations))):
            pass
    finally:
        compiled.teardown()
