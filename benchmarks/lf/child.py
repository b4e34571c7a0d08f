# SPDX-License-Identifier: Apache-2.0
"""A process of its own; it takes turns as ``benchmarks.runtime.child`` says."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

import reactorl
from benchmarks.lf import tasks
from benchmarks.runtime.child import say, turns_left
from benchmarks.runtime.facts import gil_is_on
from benchmarks.runtime.job import Job, Settings
from benchmarks.runtime.watch import Slice, Watch, digest
from benchmarks.runtime.workloads import ping_pong


def measure(job: Job, settings: Settings) -> dict[str, Any]:
    """Measure a job, a slice at each turn; returns what is known in the end."""
    how = play if job.workload == "ping_pong" else repeat
    unit, computed = how(job, settings)
    return {"unit": unit, "digest": computed, "gil": gil_is_on(), "more": {}}


def repeat(job: Job, _settings: Settings) -> tuple[str, str]:
    """Do a task once per turn."""
    task = tasks.make(job.workload, job.case, job.engine)
    try:
        seen = task()  # a warm-up
        gc.collect()
        say("ready")
        while turns_left():
            cpu, began = _cpu(), time.perf_counter()
            task()
            seconds, cpu = time.perf_counter() - began, _cpu() - cpu
            say({"seconds": seconds, "cpu": cpu})
            gc.collect()
    finally:
        task.close()
    return job.workload, digest(seen) if job.workload != "start" else ""


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def play(job: Job, settings: Settings) -> tuple[str, str]:
    """Run the ping-pong; a slice is so many rounds as fit into its time."""

    def turn(ended: Slice | None) -> bool:
        if ended is None:
            say("ready")
        else:
            per = ended.rounds
            say({"seconds": ended.wall / per, "cpu": ended.cpu / per})
        return turns_left()

    watch = Watch(compared_rounds=1_000, seconds=settings.seconds, turn=turn)
    if job.engine == "lf":
        main = reactorl.lf.load(tasks.HERE / "ping_pong.lf").Main(watch=watch)
    else:
        main = ping_pong.Main(watch=watch)
    reactorl.run(main, workers=1, fast=True, freeze=job.case == "freeze")
    return "round", watch.digest


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    say(measure(Job(**request["job"]), Settings(**request["settings"])))
