# SPDX-License-Identifier: Apache-2.0
"""Time literals: units and conversion to nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reactorl.tag import FOREVER, NEVER

if TYPE_CHECKING:
    from reactorl.lf.parse import syntax

_SECOND = 1_000_000_000

_SPELLINGS: Final = (
    (1, "ns nsec nsecs"),
    (1_000, "us usec usecs"),
    (1_000_000, "ms msec msecs"),
    (_SECOND, "s sec secs second seconds"),
    (60 * _SECOND, "min mins minute minutes"),
    (3_600 * _SECOND, "h hour hours"),
    (86_400 * _SECOND, "d day days"),
    (604_800 * _SECOND, "wk week weeks"),
)

TIME_UNITS: Final[dict[str, int]] = {
    unit: length for length, units in _SPELLINGS for unit in units.split()
}
"""Every unit's length in nanoseconds."""


def nanoseconds_of(time: syntax.Time) -> int:
    """Return a time literal in nanoseconds, at most ``FOREVER``.

    An unknown unit counts as nanoseconds; it has been reported already.
    """
    if time.magnitude is None:
        return NEVER if time.unit == "never" else FOREVER
    length = time.magnitude * TIME_UNITS.get(time.unit, 1)
    return max(NEVER, min(length, FOREVER))


def fits(time: syntax.Time) -> bool:
    """Return whether a time literal is less than ``forever``."""
    if time.magnitude is None:
        return True
    return NEVER < time.magnitude * TIME_UNITS.get(time.unit, 1) < FOREVER
