# SPDX-License-Identifier: Apache-2.0
"""Stages: a value passes through 16 reactors in each tag, in a row or in parallel."""

from __future__ import annotations

from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads import runtime

CASES = {"pipeline-16": "16 stages in a row", "fan-16": "16 stages in parallel"}

WORKLOAD = Workload(
    name="stages",
    title="Stages",
    about="A timer's value passes through 16 stages within a tag, in a row (pipeline) "
    "or in parallel (fan).",
    cases=[
        Case(name, title, {"stages": 16, "in_a_row": name.startswith("pipeline")})
        for name, title in CASES.items()
    ],
    engines=runtime.engines("stages"),
    baseline=runtime.PLAIN,
    own_process=True,
    pace=paces(Pace(compared=500, sets=3, slices=60, seconds=0.01)),
    claims=lambda outcome: runtime.two_workers_do_no_harm(outcome, list(CASES)),
)
