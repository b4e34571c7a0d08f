# SPDX-License-Identifier: Apache-2.0
"""Ping-pong: two reactors, one value to and fro; nothing can overlap."""

from __future__ import annotations

from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads import runtime

WORKLOAD = Workload(
    name="ping_pong",
    title="Ping-pong",
    about="Two reactors exchange one value; nothing can overlap.",
    cases=[Case("1", "one value", {})],
    engines=runtime.engines("ping_pong"),
    baseline=runtime.PLAIN,
    own_process=True,
    pace=paces(Pace(compared=1_000, sets=3, slices=60, seconds=0.01)),
    claims=lambda outcome: runtime.two_workers_do_no_harm(outcome, ["1"]),
)
