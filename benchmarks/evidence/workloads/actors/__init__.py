# SPDX-License-Identifier: Apache-2.0
"""Actors: a server broadcasts, each actor answers, the server gathers; and again."""

from __future__ import annotations

from benchmarks.evidence.workload import Case, Pace, Workload

MIB = 1 << 20
FLOATS = 10 * MIB // 8
COUNTS = (2, 4, 8, 16, 64)
QUICK = (2, 16)


def _empty(count: int) -> Case:
    return Case(
        name=f"empty-{count}",
        title=f"{count} actors, empty message",
        params={"actors": count, "floats": 0},
        efforts=("smoke", "quick", "full") if count in QUICK else ("full",),
        line="empty",
        x=count,
    )


WORKLOAD = Workload(
    name="actors",
    title="Number of actors",
    about="",
    cases=tuple(map(_empty, COUNTS)),
    engines={
        "ours-ft": "ours",
        "ours-gil": "ours",
        "plain": "plain",
        "plain-ft": "plain",
    },
    pace={
        "smoke": Pace(compared=3, slices=2, seconds=0.001),
        "quick": Pace(compared=50, slices=20, seconds=0.02),
        "full": Pace(compared=50, sets=5, slices=40, seconds=0.03),
    },
)
