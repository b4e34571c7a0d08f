# SPDX-License-Identifier: Apache-2.0
"""What training promises, and the jobs that tell whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.runtime.claims import Check
from benchmarks.runtime.job import Job
from benchmarks.runtime.plan import Group

if TYPE_CHECKING:
    from benchmarks.runtime.job import Python
    from benchmarks.runtime.results import Results

LOOP, ALONE, SYNC, LAGGING = "loop", "lag-0-1", "lag-0-2", "lag-1-2"
SHOWN = "lag-0-2-shown"
"""As ``SYNC``, with a dashboard and somebody who looks at it."""
MATCH, MATCH_2 = "match-1", "match-2"


@dataclass(frozen=True, slots=True)
class Claim:
    """One engine does at least so many times as many steps a second as another."""

    text: str
    case: str
    engine: str
    over: str
    bound: float
    python: Python = "ft"

    def check(self, results: Results) -> Check:
        """Return what was measured of it."""
        ours, other = (
            Job("dqn", self.case, e, self.python) for e in (self.engine, self.over)
        )
        measured = results.ratio(other, ours)
        return Check(self.text, self.python, measured, self.bound, at_most=False)


@dataclass(frozen=True, slots=True)
class TurnClaim:
    """A turn of agents takes at most so many times as long as in a plain loop."""

    text: str
    case: str
    bound: float
    python: Python

    def check(self, results: Results) -> Check:
        """Return what was measured of it."""
        ours, loop = (Job("agents", self.case, e, self.python) for e in (MATCH, LOOP))
        measured = results.ratio(ours, loop)
        return Check(self.text, self.python, measured, self.bound, at_most=True)


PYTHONS: tuple[Python, ...] = ("ft", "gil")

CLAIMS = (
    Claim(
        "DQN, learning as heavy as collecting: steps/s with lag 1 over lag 0",
        "heavy",
        LAGGING,
        SYNC,
        1.3,
    ),
    Claim(
        "DQN, CartPole x 16: steps/s of the flow over an ordinary JAX loop",
        "light",
        SYNC,
        LOOP,
        2.0,
    ),
    *(
        Claim(
            "DQN, CartPole x 16: steps/s with a dashboard over steps/s without",
            "light",
            SHOWN,
            SYNC,
            0.98,
            p,
        )
        for p in PYTHONS
    ),
    # With policies in JAX a turn is measured, too, and not judged: its own threads fall
    # asleep when calls are some microseconds apart, so that a call takes 15 us in a
    # loop that does nothing else, and 20 to 90 us wherever anything comes in between.
    *(
        TurnClaim("4 agents: a turn over a plain loop's", "numpy", 1.6, p)
        for p in PYTHONS
    ),
)

GROUPS = (
    Group(
        "dqn",
        tuple(("heavy", engine) for engine in (ALONE, SYNC, LAGGING)),
        repeats=6,
        slices=15,
        seconds=0.25,
    ),
    Group(
        "dqn",
        tuple(("light", engine) for engine in (LOOP, ALONE, SYNC, SHOWN, LAGGING)),
        repeats=6,
        slices=15,
        seconds=0.2,
    ),
    Group(
        "agents",
        tuple(
            (case, engine)
            for case in ("jax", "numpy")
            for engine in (LOOP, MATCH, MATCH_2)
        ),
        repeats=3,
        slices=20,
        seconds=0.05,
    ),
)


def checks(results: Results, pythons: tuple[Python, ...]) -> list[Check]:
    """Return all promises that concern these Pythons."""
    return [claim.check(results) for claim in CLAIMS if claim.python in pythons]
