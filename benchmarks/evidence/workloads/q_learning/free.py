# SPDX-License-Identifier: Apache-2.0
"""Two threads that play half of the rollouts each, and never meet: the physical limit.

They play all the time with the weights of the start; there is no update.
"""

from __future__ import annotations

import time
from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any

from benchmarks.evidence.workloads.q_learning.parts import Rollout, first_weights
from benchmarks.runtime.watch import Slice

if TYPE_CHECKING:
    from benchmarks.evidence.engines import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Play as many rounds as others train."""
    weights = first_weights()
    threads = engine.workers
    ready = Barrier(threads + 1)

    def play(part: int) -> None:
        mine = range(part, params["rollouts"], threads)
        rollouts = [Rollout(index) for index in mine]
        for rounds in (watch.dropped, watch.rounds):
            ready.wait()
            for _ in range(rounds):
                for rollout in rollouts:
                    rollout.collect(params["steps"], weights)
            ready.wait()

    team = [Thread(target=play, args=(part,)) for part in range(threads)]
    for thread in team:
        thread.start()
    ready.wait()
    ready.wait()
    watch.turn(None)
    cpu, wall = time.process_time(), time.perf_counter()
    ready.wait()
    ready.wait()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    for thread in team:
        thread.join()
    watch.turn(Slice(watch.rounds, wall, cpu))
