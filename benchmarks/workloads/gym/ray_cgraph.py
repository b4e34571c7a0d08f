# SPDX-License-Identifier: Apache-2.0
"""Ray Compiled Graphs: each actor gets its action from the input of the graph.

https://docs.ray.io/en/latest/ray-core/compiled-graph/quickstart.html; an input with
several parts is indexed, and arrays that come back must be gone before the next
execution (.../troubleshooting.html, "Returning NumPy arrays").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray
from ray.dag import InputNode, MultiOutputNode

from benchmarks.engines import ray_cluster
from benchmarks.workloads.gym.parts import Player, Sight, params_for, rows

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Execute the graph, round after round."""
    params = params_for(params, engine)
    sight = Sight(watch, params)
    actors = ray_cluster.actors(Player, params["envs"])
    ray.get([actor.begin.remote(params) for actor in actors])
    with InputNode() as row:
        steps = [actor.step.bind(row[i]) for i, actor in enumerate(actors)]
        graph = MultiOutputNode(steps)
    compiled = graph.experimental_compile(_max_inflight_executions=1)
    try:
        for actions in rows(params):
            results = ray.get(compiled.execute(*actions))
            if not sight.results(results):
                break
            del results
    finally:
        compiled.teardown()
    ray.get([actor.close.remote() for actor in actors])
    return sight.more()
