# SPDX-License-Identifier: Apache-2.0
"""Durations and numbers as text for people."""

from __future__ import annotations


def format_seconds(seconds: float) -> str:
    """Return a duration from seconds to hours, e.g. ``3.2 s`` or ``1 h 05 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def format_nanoseconds(nanoseconds: float) -> str:
    """Return a duration with three digits and a unit from ns to s."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size * 0.9995:
            value = nanoseconds / size
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:,.{digits}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def format_number(value: float | None) -> str:
    """Return a number with four significant digits, or a dash for None."""
    return "-" if value is None else f"{value:.4g}"
