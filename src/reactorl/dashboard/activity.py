# SPDX-License-Identifier: Apache-2.0
"""Recent activity: from counters at two moments to rates and shares."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactorl import Sample

WINDOW = 2.0
"""Length of the recent interval, in seconds, approximately."""
MOST = 500
"""How many reactions are reported, the busiest first."""


@dataclass(frozen=True, slots=True)
class Busy:
    """The recent activity of a reaction.

    Attributes:
        reaction: Its id.
        share: The fraction of the time in which it ran, estimated from the runs that
            were timed.
        rate: How often a second it ran.
        mean: Seconds that a run takes.
    """

    reaction: int
    share: float
    rate: float
    mean: float


@dataclass(frozen=True, slots=True)
class Federate:
    """The recent activity of a federate.

    Attributes:
        name: The federate.
        elapsed: Logical time that it has reached, in nanoseconds.
        rate: Tags a second.
        cores: Cores that its process keeps busy.
    """

    name: str
    elapsed: int
    rate: float
    cores: float


class Lately:
    """The last few samples."""

    def __init__(self) -> None:
        self._samples: deque[tuple[Sample, int]] = deque()

    def add(self, sample: Sample, steps: int) -> None:
        """Add a sample, and how many steps of environments there were by then."""
        if self._samples and sample.at <= self._samples[-1][0].at:
            return  # the run is over: keep the last values
        self._samples.append((sample, steps))
        while len(self._samples) > 2 and sample.at - self._samples[1][0].at >= WINDOW:
            self._samples.popleft()

    @property
    def _ends(self) -> tuple[Sample, Sample, float]:
        before, now = self._samples[0][0], self._samples[-1][0]
        return before, now, max(now.at - before.at, 1e-9)

    @property
    def latest(self) -> float:
        """When the last one was taken."""
        return self._ends[1].at

    @property
    def steps_rate(self) -> float:
        """Steps of environments a second."""
        return (self._samples[-1][1] - self._samples[0][1]) / self._ends[2]

    @property
    def tags_rate(self) -> float:
        """Tags a second."""
        before, now, passed = self._ends
        return (now.tags - before.tags) / passed

    @property
    def events_rate(self) -> float:
        """Events a second."""
        before, now, passed = self._ends
        return (now.events - before.events) / passed

    @property
    def workers(self) -> list[float | None]:
        """The CPU utilization of each worker's thread, if known."""
        before, now, passed = self._ends
        return [
            None if new is None else max(0.0, (new - (old or 0.0)) / passed)
            for old, new in zip(before.cpu, now.cpu, strict=True)
        ]

    @property
    def federates(self) -> list[Federate]:
        """The recent activity of each federate; empty if the run is one process."""
        before, now, passed = self._ends
        return [
            Federate(
                new.name,
                new.elapsed,
                max(0.0, (new.tags - old.tags) / passed),
                # What its process did before it first answered is not recent.
                max(0.0, (new.process_time - old.process_time) / passed)
                if old.process_time
                else 0.0,
            )
            for old, new in zip(before.federates, now.federates, strict=True)
        ]

    def busy(self) -> list[Busy]:
        """Return the activity of reactions, the busiest first."""
        before, now, passed = self._ends
        old, new = before.costs, now.costs
        found = []
        for reaction in range(len(new) // 3):
            k = 3 * reaction
            runs = new[k] - old[k]
            if not runs:
                continue
            # Short reactions are sampled; there may be no recent sample.
            measured, total = new[k + 1] - old[k + 1], new[k + 2] - old[k + 2]
            if not measured:
                measured, total = new[k + 1], new[k + 2]
            mean = total / measured / 1e9 if measured else 0.0
            # A reaction never runs concurrently with itself: cap early estimates.
            mean = min(mean, passed / runs)
            found.append(Busy(reaction, runs * mean / passed, runs / passed, mean))
        found.sort(key=lambda b: (-b.share, b.reaction))
        return found[:MOST]
