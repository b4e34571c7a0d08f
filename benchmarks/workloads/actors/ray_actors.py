# SPDX-License-Identifier: Apache-2.0
"""Ray actors: each a process, called with ``.remote``, gathered with ``ray.get``.

As docs.ray.io, "Design Patterns & Anti-patterns", recommends: a large message is put
into the object store once and its reference is passed to all (pass-large-arg-by-value),
all calls are made before the first result is asked for and ``ray.get`` asks for all at
once (ray-get-loop), and an answer that becomes the next message is passed on as the
reference that it is (unnecessary-ray-get).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray

from benchmarks.engines import ray_cluster
from benchmarks.workloads.actors.parts import Copier, Server

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Call every actor and gather, round after round."""
    del engine
    server = Server(params["floats"], watch)
    actors = ray_cluster.actors(Copier, params["actors"])
    # A number is smaller than the reference would be.
    message = ray.put(server.first) if params["floats"] else server.first
    while True:
        references = [actor.work.remote(message) for actor in actors]
        replies = ray.get(references)
        if not server.gather(replies):
            return
        message = references[0] if params["floats"] else replies[0]
        del references, replies  # or the object store keeps them during the next round
