# SPDX-License-Identifier: Apache-2.0
"""Logical time: tags, durations, and the arithmetic that moves between them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple, TypeAlias

FOREVER: Final = 2**63 - 1
"""The latest instant, in nanoseconds; also an endless duration.

Sums of times that exceed it are ``FOREVER``. No tag has this time, so an event that is
delayed until then never happens."""

NEVER: Final = -(2**63)
"""The instant before all others, in nanoseconds."""

MAX_MICROSTEP: Final = 2**32 - 1

Duration: TypeAlias = int | timedelta
"""A span of time: an int of nanoseconds (see ``msec`` and friends) or a timedelta."""


def nanoseconds(duration: Duration) -> int:
    """Return ``duration`` in nanoseconds, at most ``FOREVER``.

    Raises:
        TypeError: As for ``exact_nanoseconds``.
    """
    return min(exact_nanoseconds(duration), FOREVER)


def exact_nanoseconds(duration: Duration) -> int:
    """Return ``duration`` in nanoseconds, even if that is more than ``FOREVER``.

    Raises:
        TypeError: It is neither an int nor a timedelta (a float would lose
            nanoseconds; write ``msec(1.5)`` instead of ``1.5e6``).
    """
    if isinstance(duration, bool) or not isinstance(duration, int | timedelta):
        msg = (
            f"a duration must be an int of nanoseconds or a timedelta, got "
            f"{type(duration).__name__} ({duration!r}); write for example msec(1.5)"
        )
        raise TypeError(msg)
    if isinstance(duration, timedelta):
        micros = (duration.days * 86_400 + duration.seconds) * 1_000_000
        duration = (micros + duration.microseconds) * 1_000
    return duration


def nsec(count: float) -> int:
    """Return ``count`` nanoseconds."""
    return round(count)


def usec(count: float) -> int:
    """Return ``count`` microseconds in nanoseconds."""
    return round(count * 1_000)


def msec(count: float) -> int:
    """Return ``count`` milliseconds in nanoseconds."""
    return round(count * 1_000_000)


def sec(count: float) -> int:
    """Return ``count`` seconds in nanoseconds."""
    return round(count * 1_000_000_000)


def minutes(count: float) -> int:
    """Return ``count`` minutes in nanoseconds."""
    return round(count * 60_000_000_000)


def hours(count: float) -> int:
    """Return ``count`` hours in nanoseconds."""
    return round(count * 3_600_000_000_000)


class Tag(NamedTuple):
    """A point in superdense time; events are simultaneous only if both parts agree."""

    time: int
    """Nanoseconds since 1970-01-01 (of the run's clock)."""

    microstep: int = 0
    """Counts the tags that share one time."""

    def delay(self, duration: Duration) -> Tag:
        """Return the tag at which an event delayed by ``duration`` arrives.

        A positive duration forgets the microstep; zero gives the next microstep; a
        negative one changes nothing. Past the end of time it is the last tag.
        """
        by = nanoseconds(duration)
        if by < 0:
            return self
        if by == 0:
            if self.microstep == MAX_MICROSTEP:
                return Tag(FOREVER, MAX_MICROSTEP)
            return Tag(self.time, self.microstep + 1)
        if self.time >= FOREVER - by:
            return Tag(FOREVER, MAX_MICROSTEP)
        return Tag(self.time + by, 0)

    def __str__(self) -> str:
        """Return ``(time, microstep)``."""
        return f"({self.time}, {self.microstep})"
