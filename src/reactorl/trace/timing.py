# SPDX-License-Identifier: Apache-2.0
"""Measured times of a run's reactions, by the wall clock.

They are kept beside a trace and are never part of it: two equal runs take different
times. Sums are of the whole run; single invocations and tags are the last ones only, so
that memory is bounded however long a run is. All times are nanoseconds; those of
invocations and tags count from the beginning of the first tag.
"""

from __future__ import annotations

from dataclasses import dataclass
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

    @property
    def busy(self) -> int:
        """The time in all reactions together."""
        return sum(worker.busy for worker in self.workers)

    @property
    def missed(self) -> int:
        """How many deadlines were missed."""
        return sum(reaction.missed for reaction in self.reactions)
