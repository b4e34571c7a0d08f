# SPDX-License-Identifier: Apache-2.0
"""Durations and numbers as text."""

import pytest

from reactorl._util.formatting import (
    format_nanoseconds,
    format_number,
    format_seconds,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (61, "1 min 01 s"),
        (3_700, "1 h 01 min"),
    ],
)
def test_seconds_are_shown_in_at_most_two_units(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1000, "1.00 µs"),
        (9_994, "9.99 µs"),
        (9_996, "10.0 µs"),
        (99_960, "100 µs"),
        (999_600, "1.00 ms"),
        (1_234_567_890, "1.23 s"),
        (5_000_000_000_000, "5,000 s"),
    ],
)
def test_nanoseconds_are_shown_with_three_digits(nanoseconds: int, text: str) -> None:
    assert format_nanoseconds(nanoseconds) == text


def test_numbers_are_shown_with_four_digits() -> None:
    assert format_number(1234.567) == "1235"
    assert format_number(0.000123456) == "0.0001235"
    assert format_number(None) == "-"
