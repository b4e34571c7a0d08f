# SPDX-License-Identifier: Apache-2.0
"""Ray Compiled Graphs: the input goes to all actors, their outputs to the driver.

https://docs.ray.io/en/latest/ray-core/compiled-graph/quickstart.html; arrays that come
back share memory with the channel and must be gone before the next execution
(.../troubleshooting.html, "Returning NumPy arrays").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray
from ray.dag import InputNode, MultiOutputNode

from benchmarks.engines import ray_cluster
from benchmarks.workloads.actors.parts import Copier, Server

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine

ROOM = 1 << 20
"""What a message needs besides its array."""


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Execute the graph, round after round."""
    del engine
    server = Server(params["floats"], watch)
    actors = ray_cluster.actors(Copier, params["actors"])
    with InputNode() as message:
        graph = MultiOutputNode([actor.work.bind(message) for actor in actors])
    # Channels are made for one message at a time, and large enough at once.
    compiled = graph.experimental_compile(
        _buffer_size_bytes=params["floats"] * 8 + ROOM, _max_inflight_executions=1
    )
    try:
        value = server.first
        while True:
            replies = ray.get(compiled.execute(value))
            if not server.gather(replies):
                return
            value = replies[0] if params["floats"] == 0 else replies[0].copy()
            del replies
    finally:
        compiled.teardown()
