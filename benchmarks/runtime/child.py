# SPDX-License-Identifier: Apache-2.0
"""One measurement, in a process of its own: a request as JSON in, an answer out."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from benchmarks.runtime import engines, workloads
from benchmarks.runtime.facts import gil_is_on, interpreter_facts
from benchmarks.runtime.job import Engine, Job, Measurement, Settings
from benchmarks.runtime.spin import turns_per_us
from benchmarks.runtime.watch import Watch


def measure(job: Job, settings: Settings, repeat: int) -> Measurement:
    """Run a job in this process."""
    workload = workloads.make(job.workload, job.case, settings.loops_per_us)
    watch = Watch(
        compared_rounds=workload.compared_rounds,
        seconds=settings.seconds,
        quantum=workload.quantum,
    )
    load = os.getloadavg()[0]
    more = engines.run(workload, watch, Engine.named(job.engine))
    more |= workload.finish(watch)
    return Measurement(
        job=job,
        repeat=repeat,
        seconds=watch.seconds_per_round / workload.units_per_round,
        unit=workload.unit,
        digest=watch.digest,
        cpu_per_second=watch.cpu_per_second,
        gil=gil_is_on(),
        more={"timed_rounds": watch.timed_rounds, "load_average": load, **more},
    )


def answer(request: dict[str, Any]) -> object:
    """Do what is asked for."""
    match request["what"]:
        case "facts":
            return interpreter_facts()
        case "turns_per_us":
            return turns_per_us()
        case "measure":
            found = measure(
                Job(**request["job"]),
                Settings(**request["settings"]),
                request["repeat"],
            )
            return asdict(found)
    msg = f"unknown request {request['what']!r}"
    raise ValueError(msg)


if __name__ == "__main__":
    print(json.dumps(answer(json.loads(sys.argv[1]))))
