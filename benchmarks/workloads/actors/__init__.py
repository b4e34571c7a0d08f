# SPDX-License-Identifier: Apache-2.0
"""Actors: a server broadcasts, each actor replies, the server gathers; and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.claims import Claim
from benchmarks.harness.outcome import worst
from benchmarks.harness.plots import Plot, lines_of
from benchmarks.harness.workload import Case, Pace, Workload

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome
    from benchmarks.harness.workload import Effort

FLOATS = 10 * 2**20 // 8
COUNTS = (2, 4, 8, 16, 64)
SMALL = 2
QUICK = (2, 16)
EMPTY, LARGE = "empty", "10MiB"
LIMIT_FACTOR = 1.15
"""Bound of the time over that of the copies alone."""

ENGINES = {
    "ours-ft": "actors.ours",
    "free": "actors.free",  # neighbours, where memory is for two only
    "ours-gil": "actors.ours",
    "plain": "actors.plain",
    "plain-ft": "actors.plain",
    "ray-actors": "actors.ray_actors",
    "ray-cgraph": "actors.ray_cgraph",
    "xronos": "actors.xronos_",
    "mp-pipes": "actors.mp_pipes",
}
ABSENT = {
    "ours-process": "process placement is for environments of a vector; reactors of a "
    "program share a process, so that messages need not be copied.",
}

ABOUT = """\
A server broadcasts a message, each actor replies, the server gathers the replies, and
the reply of actor 0 is the next message. With 10 MiB (1,310,720 float64, as in the
paper) each actor copies the array, adds one to an element, and replies with the copy;
nothing sleeps. The empty message is a number, and so is the reply: what remains is
overhead. The upper bound (no synchronization) is two threads that only do the copies.
"""


def _efforts(count: int) -> tuple[Effort, ...]:
    if count == SMALL:
        return ("smoke", "quick", "full")
    return ("quick", "full") if count in QUICK else ("full",)


def _empty(count: int) -> Case:
    return Case(
        name=f"{EMPTY}-{count}",
        title=f"{count} actors, empty message",
        params={"actors": count, "floats": 0},
        efforts=_efforts(count),
        engines=[engine for engine in ENGINES if engine != "free"],
        line=EMPTY,
        x=count,
    )


def _large(count: int) -> Case:
    return Case(
        name=f"{LARGE}-{count}",
        title=f"{count} actors, 10 MiB",
        params={"actors": count, "floats": FLOATS},
        efforts=_efforts(count),
        line=LARGE,
        x=count,
        pace={
            "smoke": Pace(compared=2, slices=2, seconds=0.001),
            "quick": Pace(compared=3, slices=6, seconds=0.04),
            "full": Pace(compared=3, sets=5, slices=20, seconds=0.1),
        },
    )


def _claims(outcome: Outcome) -> list[Claim]:
    case = f"{EMPTY}-16"
    title = "Actors, 16 with empty messages: time per round of"
    over_limit = [
        outcome.ratio("ours-ft", "free", each.name)
        for each in outcome.cases()
        if each.line == LARGE
    ]
    return [
        Claim(
            "actors-empty-ray",
            f"{title} Ray actors over ours",
            outcome.ratio("ray-actors", "ours-ft", case),
            50,
        ),
        Claim(
            "actors-empty-cgraph",
            f"{title} Ray Compiled Graphs over ours",
            outcome.ratio("ray-cgraph", "ours-ft", case),
            5,
        ),
        Claim(
            "actors-limit",
            "Actors, 10 MiB: time of ours over that of the copies alone on 2 threads, "
            "worst number of actors",
            worst(over_limit, at_most=True),
            LIMIT_FACTOR,
            at_most=True,
        ),
    ]


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        Plot(
            name=f"actors-{line}",
            title=title,
            x_label="actors",
            y_label="time per round",
            lines=lines_of(outcome, line),
        )
        for line, title in (
            (EMPTY, "Broadcast and gather of an empty message"),
            (LARGE, "Broadcast and gather of 10 MiB, copied by each actor"),
        )
    ]


WORKLOAD = Workload(
    name="actors",
    title="Number of actors",
    about=ABOUT,
    cases=(*map(_empty, COUNTS), *map(_large, COUNTS)),
    engines=ENGINES,
    absent=ABSENT,
    partly={"free": "not with empty messages: there is nothing to copy."},
    pace={
        "smoke": Pace(compared=3, slices=2, seconds=0.001),
        "quick": Pace(compared=50, slices=8, seconds=0.02),
        "full": Pace(compared=50, sets=5, slices=40, seconds=0.03),
    },
    claims=_claims,
    plots=_plots,
)
