# SPDX-License-Identifier: Apache-2.0
"""Ray actors: a large array is put into the object store once for each exchange.

As docs.ray.io, "Design Patterns & Anti-patterns", recommends: its reference is passed
to all (pass-large-arg-by-value), and ``ray.get`` asks for all answers at once
(ray-get-loop).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ray

from benchmarks.engines import ray_cluster
from benchmarks.harness.seen import Seen
from benchmarks.workloads.federates import EXCHANGES, SMALL
from benchmarks.workloads.federates.parts import answer, message

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


class Answerer:
    """An actor that answers."""

    def __init__(self, index: int) -> None:
        self._index = index

    def work(self, received: Any) -> Any:  # noqa: ANN401
        """Answer."""
        return answer(received)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Exchange values, round after round."""
    del engine
    size = params["size"]
    value = message(size)
    actors = ray_cluster.actors(Answerer, params["receivers"])
    seen = Seen(watch)
    found: list[Any] = []
    while watch.tick(seen):
        for _ in range(EXCHANGES):
            sent = value if size == SMALL else ray.put(value)
            found = ray.get([actor.work.remote(sent) for actor in actors])
            del sent  # or the object store keeps it
        seen.add(found)
