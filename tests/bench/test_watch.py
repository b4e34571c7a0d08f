# SPDX-License-Identifier: Apache-2.0
"""Watches count rounds and time slices of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.harness.watch import digest, make_watch
from benchmarks.harness.workload import Pace, paces

if TYPE_CHECKING:
    from benchmarks.harness.watch import Slice


def test_whole_watch_has_slices_of_equal_length() -> None:
    turns: list[tuple[int, int | None]] = []

    def turn(ended: Slice | None) -> bool:
        turns.append((watch.count, ended.rounds if ended else None))
        return len(turns) <= 3

    watch = make_watch(Pace(compared=2, slices=3, whole=12), turn)
    while watch.tick(("seen", watch.count)):
        assert watch.count < 14

    assert turns == [(2, None), (6, 4), (10, 4), (14, 4)]
    assert watch.digest == digest(("seen", 13))


def test_whole_watch_does_not_time_the_wait_between_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    walls: list[float] = []

    def turn(ended: Slice | None) -> bool:
        clock[0] += 1000  # slices of other engines
        if ended:
            walls.append(ended.wall)
        return True

    watch = make_watch(Pace(compared=1, slices=2, whole=4), turn)
    for _ in range(5):
        clock[0] += 1
        watch.tick()

    assert walls == [2, 2]


def test_whole_must_be_a_multiple_of_slices() -> None:
    with pytest.raises(ValueError, match="multiple of slices=5, got 12"):
        make_watch(Pace(compared=1, slices=5, whole=12), lambda _: True)


def test_watch_fits_rounds_to_seconds_in_multiples_of_quantum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    slices: list[Slice | None] = []

    def turn(ended: Slice | None) -> bool:
        slices.append(ended)
        return len(slices) < 4

    watch = make_watch(Pace(compared=6, seconds=31.0, quantum=6), turn)
    more = True
    while more:
        clock[0] += 1  # a round takes a second
        more = watch.tick(watch.count)

    assert watch.digest == digest(6)  # passed with the last compared round
    assert [each and (each.rounds, each.wall) for each in slices] == [
        None,
        (30, 30),
        (30, 30),
        (30, 30),
    ]


def test_paces_keep_the_rounds_of_a_slice() -> None:
    found = paces(Pace(compared=1, sets=5, slices=60, whole=120))

    assert found["quick"] == Pace(compared=1, sets=1, slices=30, whole=60)
    assert found["smoke"].whole == 2 * found["smoke"].slices == 4
