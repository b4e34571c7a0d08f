# SPDX-License-Identifier: Apache-2.0
"""A process of its own; it takes turns as ``benchmarks.runtime.child`` says."""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.runtime.child import say, turns_left
from benchmarks.runtime.facts import gil_is_on
from benchmarks.runtime.job import Job, Settings
from benchmarks.runtime.watch import Slice, Watch
from benchmarks.training import agents, dqn
from benchmarks.training.shown import play_shown

COMPARED = 3


def measure(job: Job, settings: Settings) -> dict[str, Any]:
    """Train or play, a slice at each turn; returns what is known in the end."""
    inference = job.workload == "agents"
    in_a_round = agents.TURNS if inference else dqn.STEPS * dqn.NUM_ENVS

    def turn(ended: Slice | None) -> bool:
        if ended is None:
            say("ready")
        else:
            per = ended.rounds * in_a_round
            say({"seconds": ended.wall / per, "cpu": ended.cpu / per})
        return turns_left()

    watch = Watch(compared_rounds=COMPARED, seconds=settings.seconds, turn=turn)
    if inference and job.engine == "loop":
        agents.play_loop(job.case, watch.tick)
    elif inference:
        agents.play_match(job.case, int(job.engine.removeprefix("match-")), watch.tick)
    elif job.engine == "loop":
        dqn.play_loop(job.case, watch.tick)
    else:
        _, lag, workers, *shown = job.engine.split("-")
        play = play_shown if shown else dqn.play_flow
        play(job.case, int(lag), int(workers), watch.tick)
    return {"unit": "environment step", "digest": "", "gil": gil_is_on(), "more": {}}


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    say(measure(Job(**request["job"]), Settings(**request["settings"])))
