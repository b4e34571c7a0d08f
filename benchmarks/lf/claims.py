# SPDX-License-Identifier: Apache-2.0
"""What the front end promises, and the jobs that tell whether it keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.runtime.claims import Check
from benchmarks.runtime.job import Job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.runtime.job import Python
    from benchmarks.runtime.results import Results


@dataclass(frozen=True, slots=True)
class Claim:
    """The time of one job is at most so many times that of another.

    Attributes:
        over: Case and engine of the one.
        under: Case and engine of the other.
        share: Which part of the turns it takes: slow jobs take fewer.
    """

    text: str
    workload: str
    over: tuple[str, str]
    under: tuple[str, str]
    bound: float
    share: float = 1.0

    def jobs(self, python: Python) -> list[Job]:
        """Return the two jobs, the quicker one first."""
        return [Job(self.workload, *which, python) for which in (self.under, self.over)]

    def check(self, results: Results, python: Python) -> Check:
        """Return what was measured of it."""
        under, over = self.jobs(python)
        measured = results.ratio(over, under)
        return Check(self.text, python, measured, self.bound, at_most=True)


CLAIMS = (
    Claim(
        "hello.lf: time of 'reactorl run' over 'import lark'",
        "start",
        ("hello", "reactorl run"),
        ("hello", "import lark"),
        bound=6,
        share=0.3,
    ),
    Claim(
        "parse and elaborate: time for 10,000 lines over 1,000",
        "read",
        ("10000", "lf"),
        ("1000", "lf"),
        bound=12,
        share=0.15,
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


def chosen(names: Sequence[str]) -> list[Claim]:
    """Return the claims about some workloads, or about all."""
    return [claim for claim in CLAIMS if not names or claim.workload in names]
