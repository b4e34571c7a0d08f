# SPDX-License-Identifier: Apache-2.0
"""Measured times of a run's reactions, by the wall clock.

They are kept beside a trace and are never part of it: two equal runs take different
times. Sums are of the whole run; single invocations and tags are the last ones only, so
that memory is bounded however long a run is. All times are nanoseconds; those of
invocations and tags count from the beginning of the first tag.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reactorl.tag import Tag


@dataclass(frozen=True, slots=True)
class Structure:
    """The order of a program's reactions; indices are their ids."""

    reactions: tuple[str, ...]
    """Full names."""
    levels: tuple[int, ...]
    """Length of the longest path that ends at each."""
    after: tuple[tuple[int, ...], ...]
    """Which ones directly come after each, at any tag at which both run."""


class ReactionTiming(NamedTuple):
    """All invocations of one reaction."""

    runs: int = 0
    missed: int = 0  # deadlines
    total: int = 0
    longest: int = 0


class WorkerTiming(NamedTuple):
    """Everything that one worker ran."""

    runs: int
    busy: int


class TagTiming(NamedTuple):
    """One tag: when it began and ended by the wall clock, and its lag."""

    tag: Tag
    begin: int
    end: int
    lag: int  # 0 in a fast run, which does not wait for the clock


class Invocation(NamedTuple):
    """One run of a reaction's body, or of its deadline handler."""

    tag: int  # index into Timing.recent_tags
    reaction: int
    worker: int
    begin: int
    end: int
    missed: bool


class WaitKind(IntEnum):
    """What a federate waited for while it had nothing else to do."""

    SLOT = 0
    """A port that another federate sets at the same tag."""
    TAG = 1
    """Whether another federate sends something before a tag, or for it."""
    EVENT = 2
    """Anything: it had no event of its own."""


class WaitTiming(NamedTuple):
    """All waits of one federate for another one, of one kind."""

    federate: int  # the other one; its own number stands for the coordinator
    kind: WaitKind
    waits: int
    total: int
    longest: int


class Wait(NamedTuple):
    """One wait of a federate."""

    federate: int
    kind: WaitKind
    tag: Tag  # of EVENT the last one that it ran before
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class FederateTiming:
    """Measured times of one federate of a run.

    Its workers are consecutive ones of ``Timing.workers``. A federate waits while none
    of its reactions run, and those that are next need something of others; for several
    of them at a time, if it needs all.

    Attributes:
        name: The federate.
        first_worker: Index of its worker 0.
        workers: How many it has.
        span: From the beginning of its first tag to the end of its last.
        offset: What was added to its clock to get the times here.
        offset_error: By how much that may be wrong; 0: it has the same clock.
        recent_tags: The last tags that it ran.
        waits: Sums of its waits.
        recent_waits: The last of them.
    """

    name: str
    first_worker: int
    workers: int
    span: int
    offset: int
    offset_error: int
    recent_tags: tuple[TagTiming, ...]
    waits: tuple[WaitTiming, ...]
    recent_waits: tuple[Wait, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Measured times of a run.

    Attributes:
        structure: The reactions.
        fast: Whether the run did not wait for the clock; then there is no lag.
        span: From the beginning of the first tag to the end of the last.
        reactions: Sums of all invocations, by reaction id.
        workers: Sums by worker.
        tags: How many tags there were.
        lag: The sum of all tags' lags.
        longest_lag: The largest of them.
        recent_tags: The last tags whose invocations are all in ``recent``.
        recent: Their invocations, in the order in which they began.
        federates: The federates of the run; empty if it was one process. A tag then
            lasts from its first beginning to its last end in any of them.
    """

    structure: Structure
    fast: bool
    span: int
    reactions: tuple[ReactionTiming, ...]
    workers: tuple[WorkerTiming, ...]
    tags: int
    lag: int
    longest_lag: int
    recent_tags: tuple[TagTiming, ...]
    recent: tuple[Invocation, ...]
    federates: tuple[FederateTiming, ...] = ()

    @property
    def busy(self) -> int:
        """The time in all reactions together."""
        return sum(worker.busy for worker in self.workers)

    @property
    def missed(self) -> int:
        """How many deadlines were missed."""
        return sum(reaction.missed for reaction in self.reactions)
