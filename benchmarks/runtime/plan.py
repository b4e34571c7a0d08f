# SPDX-License-Identifier: Apache-2.0
"""What is measured, in which order.

Measurements that are compared form a group. A group is measured round by round: every
job once, then every job again. So a slow minute of the machine hits all alike, and
each ratio is taken between neighbours in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.runtime.job import Job

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.runtime.job import Python

STANDARD = ("ours-1", "ours-2", "plain", "futures-2", "xronos")
EMPTY_STARS = ("2", "4", "8", "16", "64")
CARTPOLES = "16"
BUSY = "16x200us"
SHORT = "16x20us"
FEW, MANY = "10000", "100000"


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs that are compared with each other."""

    workload: str
    jobs: tuple[tuple[str, str], ...]
    """Case and engine of each."""
    most_repeats: int = 1_000

    def on(self, pythons: Iterable[Python]) -> list[Job]:
        """Return the jobs for these Pythons, in the order of measurement."""
        return [
            Job(self.workload, case, engine, python)
            for python in pythons
            for case, engine in self.jobs
        ]


def _group(
    workload: str, case: str, engines: Sequence[str] = STANDARD, **more: int
) -> Group:
    return Group(workload, tuple((case, engine) for engine in engines), **more)


GROUPS = (
    *(_group("star", width) for width in EMPTY_STARS),
    _group("ping_pong", "1"),
    _group("pipeline", "16"),
    _group("fan", "16"),
    _group("timer_storm", "60"),
    _group("cartpole_star", CARTPOLES, (*STANDARD, "free-2", "ours-1-trace")),
    _group("busy_star", BUSY, (*STANDARD, "free-2")),
    _group("busy_star", SHORT, (*STANDARD, "ours-1-trace")),
    Group(
        "lookahead",
        (
            *(("both", engine) for engine in (*STANDARD, "free-2")),
            ("long", "ours-1"),
            ("chain", "ours-1"),
        ),
    ),
    Group(
        "many_reactors",
        tuple(
            (size, engine)
            for size in (FEW, MANY)
            for engine in ("ours-1", "ours-2", "plain")
        ),
        most_repeats=3,
    ),
    # Xronos takes ten seconds and more to build this many: once is enough.
    _group("many_reactors", FEW, ("xronos",), most_repeats=1),
)

WORKLOADS = tuple(dict.fromkeys(group.workload for group in GROUPS))


def rounds(
    groups: Iterable[Group], pythons: Sequence[Python], repeats: int
) -> Iterator[tuple[Group, int, list[Job]]]:
    """Yield what to measure: a group, the number of the repeat, and its jobs."""
    for group in groups:
        for repeat in range(min(repeats, group.most_repeats)):
            yield group, repeat, group.on(pythons)
