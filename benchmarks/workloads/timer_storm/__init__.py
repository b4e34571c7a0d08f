# SPDX-License-Identifier: Apache-2.0
"""Timer storm: many timers of different periods, often several at one tag."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from benchmarks.harness.watch import digest
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

PERIODS = (1, 2, 3, 4, 5, 6)
"""In milliseconds."""
CYCLE = math.lcm(*PERIODS)


def periods(params: Mapping[str, Any]) -> list[int]:
    """Return the period of each timer, in milliseconds."""
    return [PERIODS[index % len(PERIODS)] for index in range(params["timers"])]


def check(
    params: Mapping[str, Any],
    watch: Any,  # noqa: ANN401
    counts: dict[int, int],
) -> dict[str, Any]:
    """Compare how often each timer fired with how often it should have."""
    wrong = {
        index: counts.get(index)
        for index, period in enumerate(periods(params))
        if counts.get(index) != (watch.count - 1) // period + 1
    }
    watch.digest = digest(wrong)
    return {"wrong_counts": wrong}


WORKLOAD = Workload(
    name="timer_storm",
    title="Timer storm",
    about="60 timers of six periods, often several at one tag.",
    unit="event",
    units=lambda params: 1 + sum(1 / period for period in periods(params)),
    cases=[Case("60", "60 timers", {"timers": 60})],
    engines=runtime.engines("timer_storm"),
    baseline=runtime.PLAIN,
    own_process=True,
    pace=paces(
        Pace(compared=2 * CYCLE, sets=3, slices=60, seconds=0.01, quantum=CYCLE)
    ),
    claims=lambda outcome: runtime.two_workers_do_no_harm(outcome, ["60"]),
)
