# SPDX-License-Identifier: Apache-2.0
"""Number of reactors: the cost of an event in programs of 10 to 100,000."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness.plots import Plot, lines_of
from benchmarks.harness.results import from_more
from benchmarks.harness.tables import seconds_text, table
from benchmarks.harness.workload import Case, Pace, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.harness.outcome import Outcome

SIZES = (10, 100, 1_000, 10_000, 100_000)
QUICK = (10, 1_000, 100_000)
SLOW_TO_BUILD = 10_000
"""Xronos takes seconds to build this many; the time grows faster than the size."""
ALL = ("ours-ft", "ours-gil", "plain-ft", "plain")

ABOUT = """\
A token goes around a ring of reactors; each hop is an event at a microstep of its own,
so nothing can run in parallel, and one event is measured. The plain loop calls the same
bodies in order. Events must not be more expensive in a large program: what grows is the
memory that is touched, not the work.
"""


def _case(size: int) -> Case:
    small = size <= 100
    return Case(
        name=str(size),
        title=f"{size:,} reactors",
        params={"size": size},
        efforts=(
            *(("smoke",) if small else ()),
            *(("quick",) if size in QUICK else ()),
            "full",
        ),
        engines=(*ALL, "xronos") if size <= SLOW_TO_BUILD else ALL,
        line="reactors",
        x=size,
        pace={}
        if size < SLOW_TO_BUILD
        else {
            "quick": Pace(compared=1, slices=4, seconds=0.02),
            "full": Pace(compared=1, sets=3, slices=10, seconds=0.02),
        },
    )


def _units(params: Mapping[str, Any]) -> float:
    return float(params["size"] + 1)


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        Plot(
            name="reactors",
            title="One event, against the number of reactors",
            x_label="reactors",
            y_label="time per event",
            lines=lines_of(outcome, "reactors"),
        )
    ]


def building_table(outcome: Outcome, engines: Sequence[str]) -> list[str]:
    """Return a table of the time and memory that building takes."""
    rows = []
    for case in outcome.cases():
        size = case.params["size"]
        for engine in engines:
            built = outcome.time(case.name, engine, from_more("build_seconds"))
            memory = outcome.time(case.name, engine, from_more("memory"))
            if built is None or memory is None:
                continue
            rows.append(
                (
                    case.title,
                    engine,
                    seconds_text(built.median),
                    f"{memory.median / 2**20:.1f} MiB",
                    f"{memory.median / size:,.0f} B" if size >= 1_000 else "",
                )
            )
    if not rows:
        return []
    head = ("program", "engine", "building it", "memory", "each reactor")
    return ["Time and memory of building:\n\n" + table(head, rows, numbers=(2, 3, 4))]


WORKLOAD = Workload(
    name="reactors",
    title="Number of reactors",
    about=ABOUT,
    unit="event",
    cases=tuple(map(_case, SIZES)),
    engines={
        "ours-ft": "reactors.ours",
        "ours-gil": "reactors.ours",
        "plain-ft": "reactors.plain",
        "plain": "reactors.plain",
        "xronos": "reactors.xronos_",
    },
    absent={
        "ray-actors": "an actor is a process; there cannot be 10,000.",
        "ray-cgraph": "likewise.",
    },
    partly={
        "xronos": "not with 100,000 reactors: by what smaller programs took, it would "
        "take minutes to build them.",
    },
    units=_units,
    pace={
        "smoke": Pace(compared=2, slices=2, seconds=0.001),
        "quick": Pace(compared=2, slices=10, seconds=0.01),
        "full": Pace(compared=2, sets=5, slices=30, seconds=0.02),
    },
    plots=_plots,
    notes=lambda outcome: building_table(outcome, ("ours-ft", "ours-gil", "xronos")),
)
