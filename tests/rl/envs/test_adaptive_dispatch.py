# SPDX-License-Identifier: Apache-2.0
"""Dispatch by duration follows the duration of recent calls."""

from __future__ import annotations

from itertools import groupby
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from reactorl.rl.envs import adaptive_dispatch as lengths
from reactorl.rl.envs.adaptive_dispatch import EVERY, JUDGED, ByLength

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 10.0


class Work:
    """What takes a time, by a clock that stands still otherwise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.calls: list[str] = []
        self.seconds: Callable[[int], float] = lambda _: 1.0
        now = SimpleNamespace(perf_counter=lambda: self.now)
        monkeypatch.setattr(lengths, "time", now)
        self.by_length = ByLength(LONG, self.short, self.long)

    def short(self, number: int) -> str:
        return self._do("short", number)

    def long(self, number: int) -> str:
        return self._do("long", number)

    def _do(self, way: str, number: int) -> str:
        self.now += self.seconds(number)
        self.calls.append(way)
        return f"{way} {number}"

    def runs(self, calls: int) -> list[tuple[str, int]]:
        """Call so often; returns which way was taken how often in a row."""
        for number in range(calls):
            assert self.by_length(number) == f"{self.calls[-1]} {number}"
        return [(way, len(list(each))) for way, each in groupby(self.calls)]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    return Work(monkeypatch)


def test_short_calls_stay_where_they_begin(work: Work) -> None:
    assert work.runs(3 * EVERY) == [("short", 3 * EVERY)]


def test_long_calls_go_the_other_way_as_long_as_they_are_long(work: Work) -> None:
    work.seconds = lambda n: 2 * LONG if n < JUDGED + EVERY else LONG / 2

    assert work.runs(JUDGED + 3 * EVERY) == [
        ("short", JUDGED),
        ("long", 2 * EVERY),
        ("short", EVERY),
    ]


@pytest.mark.parametrize(
    ("share", "way"), [(20, "long"), (30, "short")], ids=["few", "enough"]
)
def test_some_short_calls_make_no_short_work(share: int, way: str, work: Work) -> None:
    work.seconds = lambda n: 1 if n % 100 < share else 1000

    work.runs(JUDGED + 1)

    assert work.calls[-1] == way


def test_calls_that_raise_are_not_judged(work: Work) -> None:
    def refuse(number: int) -> float:
        raise ValueError(number)

    work.seconds = refuse
    for number in range(3 * JUDGED):
        with pytest.raises(ValueError, match=str(number)):
            work.by_length(number)
    work.seconds = lambda _: 1.0

    assert work.runs(JUDGED + 1) == [("short", JUDGED + 1)]
