# SPDX-License-Identifier: Apache-2.0
"""Many reactors: the cost of building, keeping and reaching 10,000 and 100,000."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.engines import on
from benchmarks.harness.claims import Claim
from benchmarks.harness.results import Spread, from_more
from benchmarks.harness.workload import Case, Pace, Workload, paces
from benchmarks.workloads import runtime
from benchmarks.workloads.reactors import building_table

if TYPE_CHECKING:
    from benchmarks.harness.engine import Python
    from benchmarks.harness.outcome import Outcome

FEW, MANY = "10000", "100000"
KIB = 1024
LARGE, EACH = 100_000, 6 * KIB
"""From this size on memory matters, with this many bytes for each reactor."""
OURS = ("ours-1", "ours", "plain")


def _case(size: int) -> Case:
    return Case(
        str(size),
        f"{size:,} reactors",
        {"size": size},
        engines=runtime.on_both(*OURS),
        needs=size * EACH if size >= LARGE else 0,
        group="sizes",
    )


def _beyond(outcome: Outcome, size: str, python: Python) -> Spread | None:
    """Return the memory of each reactor beyond its Python object, in KiB."""
    ours, bare = (
        outcome.time(size, engine, from_more("memory"))
        for engine in on(python, "ours-1", "plain")
    )
    if ours is None or bare is None:
        return None
    each = [(value - bare.median) / int(size) / KIB for value in ours.values]
    return Spread(tuple(each))


def _claims(outcome: Outcome) -> list[Claim]:
    claims = runtime.two_workers_do_no_harm(outcome, [FEW, MANY])
    for python in runtime.PYTHONS:
        ours = f"ours-1-{python}"
        claims += [
            Claim(
                f"many-reactors-{key}-{python}",
                f"{MANY} reactors, {python}: {title} over that of {FEW}",
                outcome.ratio(ours, ours, MANY, under_case=FEW, number=from_more(key)),
                11.0,
                at_most=True,
            )
            for key, title in WORKLOAD.numbers.items()
        ]
        claims += [
            Claim(
                f"many-reactors-beyond-{size}-{python}",
                f"{size} reactors, {python}: memory of each beyond its Python object",
                _beyond(outcome, size, python),
                4.0,
                at_most=True,
                unit=" KiB",
            )
            for size in (FEW, MANY)
        ]
    return claims


WORKLOAD = Workload(
    name="many_reactors",
    title="Many reactors",
    about="A token goes around a ring of 10,000 or 100,000 reactors.",
    unit="event",
    units=lambda params: float(params["size"] + 1),
    cases=[
        _case(10_000),
        _case(100_000),
        # Xronos takes ten seconds and more to build this many: once is enough.
        Case(
            "10000-xronos",
            "10,000 reactors (Xronos)",
            {"size": 10_000},
            engines=runtime.on_both("xronos"),
            pace=paces(Pace(compared=1, sets=1, slices=4, seconds=0.01)),
        ),
    ],
    engines={
        engine: module
        for engine, module in runtime.engines("reactors").items()
        if not engine.startswith("futures")
    },
    partly=dict.fromkeys(
        runtime.on_both("xronos"), "with 10,000 only, once: building takes ten seconds."
    )
    | dict.fromkeys(
        runtime.on_both(*OURS), "not in the case of Xronos, which is measured once."
    ),
    baseline=runtime.PLAIN,
    numbers={"build_seconds": "build time", "memory": "memory"},
    own_process=True,
    params={"smoke": {"size": 100}},
    # Building is measured once per process.
    pace=paces(Pace(compared=1, sets=5, slices=12, seconds=0.01)),
    claims=_claims,
    notes=lambda outcome: building_table(
        outcome, runtime.on_both("ours-1", "plain", "xronos")
    ),
)
