# SPDX-License-Identifier: Apache-2.0
"""What the front end promises, and the jobs that tell whether it keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.runtime.claims import Check
from benchmarks.runtime.plan import Group

if TYPE_CHECKING:
    from benchmarks.runtime.job import Python
    from benchmarks.runtime.results import Results


@dataclass(frozen=True, slots=True)
class Claim:
    """The time of one job is at most so many times that of another.

    Attributes:
        over: Case and engine of the one.
        under: Case and engine of the other.
        slices: How many turns it takes in a set: slow jobs take fewer.
    """

    text: str
    workload: str
    over: tuple[str, str]
    under: tuple[str, str]
    bound: float
    slices: int = 100

    @property
    def group(self) -> Group:
        """The two jobs, the quicker one first."""
        jobs = (self.under, self.over)
        return Group(self.workload, jobs, repeats=5, slices=self.slices)

    def check(self, results: Results, python: Python) -> Check:
        """Return what was measured of it."""
        under, over = self.group.on(python)
        measured = results.ratio(over, under)
        return Check(self.text, python, measured, self.bound, at_most=True)


CLAIMS = (
    Claim(
        "hello.lf: time of 'reactorl run' over 'import lark'",
        "start",
        ("hello", "reactorl run"),
        ("hello", "import lark"),
        bound=6,
        slices=30,
    ),
    Claim(
        "parse and elaborate: time for 10,000 lines over 1,000",
        "read",
        ("10000", "lf"),
        ("1000", "lf"),
        bound=12,
        slices=15,
    ),
    Claim(
        "ping-pong: time in .lf over the Python API",
        "ping_pong",
        ("freeze", "lf"),
        ("freeze", "python"),
        bound=1.1,
    ),
    Claim(
        "ping-pong, values not frozen: time in .lf over the Python API",
        "ping_pong",
        ("by reference", "lf"),
        ("by reference", "python"),
        bound=1.1,
    ),
)


GROUPS = tuple(claim.group for claim in CLAIMS)


def checks(results: Results, pythons: tuple[Python, ...]) -> list[Check]:
    """Return all promises that concern these Pythons."""
    return [claim.check(results, python) for claim in CLAIMS for python in pythons]
