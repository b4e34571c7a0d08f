# SPDX-License-Identifier: Apache-2.0
"""Upper bound (no synchronization): two threads play half of the rollouts each.

In each round they have the weights of the training, so that they take the same steps as
the engines. The weights were learned before: there is no learning meanwhile.
"""

from __future__ import annotations

import time
from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any

from benchmarks.harness.watch import Slice
from benchmarks.workloads.q_learning.parts import Learner, Replay, Rollout

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from benchmarks.workloads.q_learning.parts import Weights


class NoWatch:
    """Times and compares nothing."""

    count = compared_at = 0

    def tick(self, seen: object) -> bool:
        """Always continue."""
        del seen
        return True


def weights_by_round(params: dict[str, Any], rounds: int) -> list[Weights]:
    """Train, untimed; return the weights of each round."""
    rollouts = [Rollout(index) for index in range(params["rollouts"])]
    replay, learner = Replay(), Learner(NoWatch())
    replay.begin(params["batch"])
    found = [learner.weights]
    while len(found) < rounds:
        steps = [r.collect(params["steps"], learner.weights) for r in rollouts]
        learner.learn(replay.add_and_draw(*steps))
        found.append(learner.weights)
    for rollout in rollouts:
        rollout.close()
    return found


def run(params: dict[str, Any], watch: Any, engine: Engine) -> None:  # noqa: ANN401
    """Play as many rounds as others train."""
    rounds, count = watch.rounds_of_slice, watch.slices
    weights = weights_by_round(params, watch.dropped + rounds * count)
    first = range(watch.dropped, len(weights), rounds)
    stretches = [weights[: watch.dropped], *(weights[at : at + rounds] for at in first)]
    threads = engine.workers
    ready = Barrier(threads + 1)

    def play(part: int) -> None:
        mine = range(part, params["rollouts"], threads)
        rollouts = [Rollout(index) for index in mine]
        for stretch in stretches:
            ready.wait()
            for latest in stretch:
                for rollout in rollouts:
                    rollout.collect(params["steps"], latest)
            ready.wait()
        for rollout in rollouts:
            rollout.close()

    team = [Thread(target=play, args=(part,)) for part in range(threads)]
    for thread in team:
        thread.start()
    ready.wait()
    ready.wait()
    watch.turn(None)
    for _ in range(count):
        cpu, wall = time.process_time(), time.perf_counter()
        ready.wait()
        ready.wait()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        watch.turn(Slice(rounds, wall, cpu))
    for thread in team:
        thread.join()
