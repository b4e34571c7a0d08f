# SPDX-License-Identifier: Apache-2.0
"""Rollouts one after another, then the update; and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.workloads.q_learning.parts import Learner, Replay, Rollout

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Train until the watch has enough slices."""
    del engine
    rollouts = [Rollout(index) for index in range(params["rollouts"])]
    replay, learner = Replay(), Learner(watch)
    replay.begin(params["batch"])
    while True:
        found = [r.collect(params["steps"], learner.weights) for r in rollouts]
        if not learner.learn(replay.add_and_draw(*found)):
            break
    for rollout in rollouts:
        rollout.close()
    return learner.more()
