# SPDX-License-Identifier: Apache-2.0
"""What is measured, in which order.

Jobs that are compared form a group, and take turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchmarks.runtime.job import Job

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from benchmarks.runtime.job import Python

STANDARD = ("ours-1", "ours-2", "plain", "futures-2", "xronos")
EMPTY_STARS = ("2", "4", "8", "16", "64")
CARTPOLES = "16"
BUSY = "16x200us"
SHORT = "16x20us"
FEW, MANY = "10000", "100000"

MANY_SETS: Final[dict[str, Any]] = {"repeats": 10, "slices": 30}
# Rounds of milliseconds: a slice of two would be all beginning.
LONG_ROUNDS: Final[dict[str, Any]] = {"repeats": 8, "slices": 12, "seconds": 0.05}


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs that are compared with each other."""

    workload: str
    jobs: tuple[tuple[str, str], ...]
    """Case and engine of each."""
    repeats: int = 3
    """In how many sets of processes."""
    slices: int = 60
    """So many slices each in a set, or fewer."""
    seconds: float = 0.01
    """How long a slice is, about."""

    def on(self, python: Python, engines: Collection[str] = ()) -> list[Job]:
        """Return the jobs for a Python, in the order of measurement.

        Args:
            python: Which Python.
            engines: If given, only these.
        """
        return [
            Job(self.workload, case, engine, python)
            for case, engine in self.jobs
            if not engines or engine in engines
        ]


def _group(
    workload: str,
    case: str,
    engines: Sequence[str] = STANDARD,
    **more: Any,  # noqa: ANN401
) -> Group:
    return Group(workload, tuple((case, engine) for engine in engines), **more)


GROUPS = (
    *(_group("star", width) for width in EMPTY_STARS),
    _group("ping_pong", "1"),
    _group("pipeline", "16"),
    _group("fan", "16"),
    _group("timer_storm", "60"),
    # Many sets: what two workers can do counts only where there are two cores.
    _group(
        "cartpole_star", CARTPOLES, (*STANDARD, "free-2", "ours-1-trace"), **MANY_SETS
    ),
    _group("busy_star", BUSY, (*STANDARD, "free-2"), **LONG_ROUNDS),
    _group("busy_star", SHORT, (*STANDARD, "ours-1-trace")),
    Group(
        "lookahead",
        (
            *(("both", engine) for engine in (*STANDARD, "free-2")),
            ("long", "ours-1"),
            ("chain", "ours-1"),
        ),
        **LONG_ROUNDS,
    ),
    Group(
        "many_reactors",
        tuple(
            (size, engine)
            for size in (FEW, MANY)
            for engine in ("ours-1", "ours-2", "plain")
        ),
        # What building takes is measured once per process.
        repeats=5,
        slices=12,
    ),
    # Xronos takes ten seconds and more to build this many: once is enough.
    _group("many_reactors", FEW, ("xronos",), repeats=1, slices=4),
)


@dataclass(frozen=True, slots=True)
class Stint:
    """One set of processes that take turns."""

    group: Group
    python: Python
    repeat: int

    @property
    def label(self) -> str:
        """What is measured, in words."""
        cases = dict.fromkeys(case for case, _ in self.group.jobs)
        return f"{self.group.workload} {', '.join(cases)}, {self.python}"


def stints(
    groups: Iterable[Group], pythons: Sequence[Python], repeats: int | None
) -> Iterator[Stint]:
    """Yield what to measure, in order.

    Args:
        groups: What is compared.
        pythons: On which Pythons.
        repeats: In how many sets of processes; None: as the groups say.
    """
    for group in groups:
        for repeat in range(repeats or group.repeats):
            for python in pythons:
                yield Stint(group, python, repeat)
