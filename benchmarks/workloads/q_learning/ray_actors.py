# SPDX-License-Identifier: Apache-2.0
"""Ray actors for rollouts and the replay buffer, the learner in the driver.

So it is in the paper; and as docs.ray.io, "Design Patterns & Anti-patterns",
recommends: weights are put into the object store once (pass-large-arg-by-value), steps
go from rollouts to the replay buffer as references, without a stop in the driver
(unnecessary-ray-get), and they are arrays, which need no pickling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray

from benchmarks.workloads.q_learning.parts import Learner
from benchmarks.workloads.q_learning.ray_parts import make_actors

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    learner = Learner(watch)
    rollouts, replay = make_actors(params)
    while True:
        weights = ray.put(learner.weights)
        steps = [rollout.collect.remote(weights) for rollout in rollouts]
        batch = ray.get(replay.add_and_draw.remote(*steps))
        if not learner.learn(batch):
            break
        del weights, steps, batch
    return learner.more()
