# SPDX-License-Identifier: Apache-2.0
"""Ray Compiled Graphs: weights to rollouts, their steps to the buffer, a batch out.

https://docs.ray.io/en/latest/ray-core/compiled-graph/quickstart.html; the batch shares
memory with its channel and is gone before the next execution
(.../troubleshooting.html, "Returning NumPy arrays").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray
from ray.dag import InputNode

from benchmarks.workloads.q_learning.parts import Learner
from benchmarks.workloads.q_learning.ray_parts import make_actors

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    learner = Learner(watch)
    rollouts, replay = make_actors(params)
    with InputNode() as weights:
        steps = [rollout.collect.bind(weights) for rollout in rollouts]
        graph = replay.add_and_draw.bind(*steps)
    compiled = graph.experimental_compile(_max_inflight_executions=1)
    try:
        while True:
            batch = ray.get(compiled.execute(learner.weights))
            if not learner.learn(batch):
                break
            del batch
    finally:
        compiled.teardown()
    return learner.more()
