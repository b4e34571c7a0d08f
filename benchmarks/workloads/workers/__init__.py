# SPDX-License-Identifier: Apache-2.0
"""Number of workers: the same program with 1, 2, 4 and 8, on the cores there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.plots import Plot, lines_of
from benchmarks.harness.workload import Case, Pace, Workload

if TYPE_CHECKING:
    from benchmarks.harness.outcome import Outcome

CLIENTS = 16
TURNS = 4_000
"""Of a loop in Python: about 0.2 ms."""
WORKERS = (1, 2, 4, 8)

ABOUT = f"""\
A server and {CLIENTS} clients, each of which runs a loop of {TURNS:,} turns in Python
(a few tenths of a millisecond) before it replies. Results must be bit-identical for any
number of workers, and more workers than cores must do no harm. The plain loop and the
upper bound (as many threads, no synchronization) do the same work.
"""


def _case(workers: int) -> Case:
    return Case(
        name=f"{workers}",
        title=f"{workers} worker{'s' * (workers > 1)}",
        params={"workers": workers, "clients": CLIENTS, "turns": TURNS},
        line="workers",
        x=workers,
    )


def _plots(outcome: Outcome) -> list[Plot]:
    return [
        Plot(
            name="workers",
            title=f"{CLIENTS} clients with work in Python, against workers",
            x_label="workers",
            y_label="time per round",
            lines=lines_of(outcome, "workers"),
            log_y=False,
        )
    ]


def _notes(outcome: Outcome) -> list[str]:
    digests = {
        m.digest
        for m in outcome.results.measurements
        if m.job.engine.startswith("ours")
    }
    counts = len(outcome.cases())
    if not digests:
        return []
    if len(digests) == 1:
        return [
            f"Results are bit-identical for {counts} worker counts on both Pythons."
        ]
    return [f"**{len(digests)} different results for {counts} numbers of workers.**"]


WORKLOAD = Workload(
    name="workers",
    title="Number of workers",
    about=ABOUT,
    cases=tuple(map(_case, WORKERS)),
    engines={
        "ours-ft": "star.ours",
        "ours-gil": "star.ours",
        "free": "star.free",
        "plain-ft": "star.plain",
        "plain": "star.plain",
    },
    pace={
        "smoke": Pace(compared=2, slices=2, seconds=0.001),
        "quick": Pace(compared=20, slices=6, seconds=0.03),
        "full": Pace(compared=20, sets=8, slices=12, seconds=0.05),
    },
    params={"smoke": {"turns": 40}},
    plots=_plots,
    notes=_notes,
)
