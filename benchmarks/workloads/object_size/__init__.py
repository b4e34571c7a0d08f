# SPDX-License-Identifier: Apache-2.0
"""Object size: 16 actors, and messages from a kilobyte to half a gigabyte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.outcome import worst
from benchmarks.harness.plots import Plot, lines_of
from benchmarks.harness.workload import Case, Pace, Workload
from benchmarks.workloads.actors import ABSENT, ENGINES, LIMIT_FACTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.workload import Effort

ACTORS = 16
LARGE = 10_000_000
COPIES = 34
"""Objects that an engine may need at a time: 16 replies, 16 in transit, two."""
HUNGRY = {
    # Each process has the message, the reply, and its buffer.
    "mp-pipes": 16 * 3 + 17,
    # Each actor has its last reply and the next; all of them and the message are in
    # shared memory, and twice in the driver.
    "ray-cgraph": 16 * 2 + 17 + 2,
}
"""Engines that need more of them."""

ABOUT = """\
The same with 16 actors and messages of different sizes: float64 arrays as in the
paper, where what is called 300 MB has 33,107,200 numbers (265 MB) and what is called
500 MB has 61,072,000 (489 MB).
"""


def _case(
    name: str,
    floats: int,
    efforts: Sequence[Effort],
    *,
    huge: bool = False,
    slices: int = 6,
) -> Case:
    size = floats * 8
    large = size >= LARGE
    return Case(
        name=name.replace(" ", ""),
        title=name,
        params={"actors": ACTORS, "floats": floats},
        efforts=efforts,
        needs=size * COPIES if huge else 0,
        hungry={e: size * count for e, count in HUNGRY.items()} if huge else {},
        line="size",
        x=size,
        pace={
            "quick": Pace(compared=2, slices=5, seconds=0.05),
            # Unused memory may go back to the host of a virtual machine while other
            # engines have their turn: a slice must be longer than it takes to get it.
            "full": Pace(
                compared=2, sets=3, slices=slices, seconds=1.0 if huge else 0.1
            ),
        }
        if large
        else {},
    )


CASES = (
    _case("1 KB", 128, ("smoke", "quick", "full")),
    _case("100 KB", 12_800, ("full",)),
    _case("10 MB", 1_310_720, ("quick", "full"), slices=20),
    _case("100 MB", 13_107_200, ("full",), huge=True, slices=8),
    _case("300 MB", 33_107_200, ("full",), huge=True, slices=5),
    _case("500 MB", 61_072_000, ("full",), huge=True, slices=4),
)


def _claims(outcome: Outcome) -> list[Claim]:
    over_limit = [
        outcome.ratio("ours-ft", "free", case.name)
        for case in outcome.cases()
        if case.x is not None and case.x >= LARGE
    ]
    return [
        Claim(
            "size-limit",
            "Object size, 10 MB and larger: time of ours over that of the copies alone "
            "on 2 threads, worst size",
            worst(over_limit, at_most=True),
            LIMIT_FACTOR,
            at_most=True,
        )
    ]


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        Plot(
            name="object-size",
            title="Broadcast and gather with 16 actors",
            x_label="size of the message",
            y_label="time per round",
            lines=lines_of(outcome, "size"),
            x_names={case.x: case.title for case in CASES if case.x is not None},
        )
    ]


WORKLOAD = Workload(
    name="object_size",
    title="Object size",
    about=ABOUT,
    cases=CASES,
    engines=ENGINES,
    absent=ABSENT,
    pace={
        "smoke": Pace(compared=3, slices=2, seconds=0.001),
        "quick": Pace(compared=10, slices=8, seconds=0.02),
        "full": Pace(compared=10, sets=3, slices=30, seconds=0.03),
    },
    params={"smoke": {"actors": 4}},
    claims=_claims,
    plots=_plots,
)
