# SPDX-License-Identifier: Apache-2.0
"""Busy star: pure-Python work of a known length in each client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads import runtime

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

LONG, SHORT = "16x200us", "16x20us"


def _claims(outcome: Outcome) -> list[Claim]:
    two_cores = outcome.sets_with_two_cores("plain-ft", "free", LONG)
    return [
        *(
            Claim(
                f"busy-star-{other}",
                f"Star, {LONG}, ft: speed of 2 workers over {title}",
                outcome.ratio(other, "ours-ft", LONG, sets=two_cores),
                bound,
            )
            for other, title, bound in (
                ("ours-1-ft", "1 worker", 1.7),
                ("free", "the upper bound (no synchronization)", 0.93),
            )
        ),
        *runtime.two_workers_do_no_harm(outcome, [LONG, SHORT]),
        *runtime.tracing_is_cheap(outcome, SHORT),
    ]


WORKLOAD = Workload(
    name="busy_star",
    title="Busy star",
    about="A star in which each of 16 clients does 200 µs or 20 µs of pure-Python "
    "work.",
    cases=[
        Case(
            LONG,
            "16 clients, 200 µs",
            {"clients": 16, "us": 200},
            engines=runtime.on_both(*runtime.STANDARD, "free"),
            # Rounds of milliseconds: a short slice would be all lead-in.
            pace=paces(Pace(compared=20, sets=8, slices=12, seconds=0.05)),
        ),
        Case(
            SHORT,
            "16 clients, 20 µs",
            {"clients": 16, "us": 20},
            engines=runtime.on_both(*runtime.STANDARD, "ours-1-trace"),
        ),
    ],
    engines=runtime.engines("star", "free", "ours-1-trace"),
    partly=dict.fromkeys(runtime.on_both("free"), "with 200 µs only.")
    | dict.fromkeys(runtime.on_both("ours-1-trace"), "with 20 µs only."),
    baseline=runtime.PLAIN,
    calibrated=True,
    own_process=True,
    params={"smoke": {"us": 2}},
    pace=paces(Pace(compared=200, sets=3, slices=60, seconds=0.01)),
    claims=_claims,
)
