# SPDX-License-Identifier: Apache-2.0
"""A process of its own; it takes turns as ``benchmarks.runtime.child`` says."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import numpy as np

from benchmarks.runtime.child import say, turns_left
from benchmarks.runtime.facts import gil_is_on
from benchmarks.runtime.job import Job, Settings
from benchmarks.runtime.watch import Slice, Watch
from benchmarks.vector import engines, workloads

COMPARED = 30
"""Steps after which all engines must have seen the same."""
ACTIONS = 64


class Seen:
    """A fingerprint of the first observations and rewards."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=8)
        self._left = COMPARED

    def add(self, observations: Any, rewards: Any) -> None:  # noqa: ANN401
        """Add what a step gave."""
        if self._left > 0:
            self._left -= 1
            self._digest.update(np.ascontiguousarray(observations).tobytes())
            self._digest.update(rewards.tobytes())

    def __repr__(self) -> str:
        return self._digest.hexdigest()


def measure(job: Job, settings: Settings) -> dict[str, Any]:
    """Step a vector, a slice at each turn; returns what is known in the end."""
    count = int(job.case)
    maker = workloads.maker(job.workload, settings.loops_per_us)
    envs = engines.make(job.engine, maker, count)

    def turn(ended: Slice | None) -> bool:
        if ended is None:
            say("ready")
        else:
            per = ended.rounds
            say({"seconds": ended.wall / per, "cpu": ended.cpu / per})
        return turns_left()

    seen = Seen()
    watch = Watch(compared_rounds=COMPARED, seconds=settings.seconds, turn=turn)
    try:
        envs.action_space.seed(1)
        actions = [envs.action_space.sample() for _ in range(ACTIONS)]
        envs.reset(seed=1)
        step = 0
        going_on = True
        while going_on:
            observations, rewards, _, _, _ = envs.step(actions[step % ACTIONS])
            step += 1
            if step <= COMPARED + 1:
                seen.add(observations, rewards)
            going_on = watch.tick(seen)
    finally:
        envs.close()
    return {
        "unit": f"step of {count}",
        "digest": watch.digest,
        "gil": gil_is_on(),
        "more": {"placement": getattr(envs, "placement", "")},
    }


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    say(measure(Job(**request["job"]), Settings(**request["settings"])))
