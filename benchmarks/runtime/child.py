# SPDX-License-Identifier: Apache-2.0
"""What a process of its own does: a request as JSON in, answers as lines of JSON out.

A measurement takes turns: it says that it is ready, and then, for every line ``go``
that it reads, does a slice and says what that took. At ``stop`` it says the rest.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.runtime import engines, workloads
from benchmarks.runtime.facts import gil_is_on, interpreter_facts
from benchmarks.runtime.job import Engine, Job, Settings
from benchmarks.runtime.spin import spin, turns_per_us
from benchmarks.runtime.watch import Slice, Watch


def say(answer: object) -> None:
    """Write an answer as one line."""
    print(json.dumps(answer), flush=True)


def turns_left() -> bool:
    """Wait for the next turn; return whether there is one."""
    return sys.stdin.readline() == "go\n"


def measure(job: Job, settings: Settings) -> object:
    """Run a job, a slice at each turn; returns what is known in the end."""
    workload = workloads.make(job.workload, job.case, settings.loops_per_us)

    def turn(ended: Slice | None) -> bool:
        if ended is None:
            say("ready")
        else:
            units = ended.rounds * workload.units_per_round
            say({"seconds": ended.wall / units, "cpu": ended.cpu / units})
        return turns_left()

    watch = Watch(
        compared_rounds=workload.compared_rounds,
        seconds=settings.seconds,
        turn=turn,
        quantum=workload.quantum,
    )
    more = engines.run(workload, watch, Engine.named(job.engine))
    more |= workload.finish(watch)
    return {
        "unit": workload.unit,
        "digest": watch.digest,
        "gil": gil_is_on(),
        "more": more,
    }


def feel() -> object:
    """Take turns at a piece of work that should always take equally long."""
    import os
    import time

    core = int(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    say("ready")
    while turns_left():
        began = time.perf_counter()
        spin(10_000, core)
        say(time.perf_counter() - began)
    return None


def answer(request: dict[str, Any]) -> object:
    """Do what is asked for; returns the last answer."""
    match request["what"]:
        case "facts":
            return interpreter_facts()
        case "turns_per_us":
            return turns_per_us()
        case "feel":
            return feel()
        case "measure":
            return measure(Job(**request["job"]), Settings(**request["settings"]))
    msg = f"unknown request {request['what']!r}"
    raise ValueError(msg)


if __name__ == "__main__":
    say(answer(json.loads(sys.argv[1])))
