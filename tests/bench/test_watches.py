# SPDX-License-Identifier: Apache-2.0
"""The watch of trainings: slices that are a number of rounds together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.harness.watch import make_watch
from benchmarks.harness.workload import Pace
from benchmarks.harness.watch import digest

if TYPE_CHECKING:
    from benchmarks.harness.watch import Slice


def test_a_training_is_timed_in_slices_of_equal_length() -> None:
    turns: list[tuple[int, int | None]] = []

    def turn(ended: Slice | None) -> bool:
        turns.append((watch.count, ended.rounds if ended else None))
        return len(turns) <= 3

    watch = make_watch(Pace(compared=2, slices=3, whole=12), turn)
    while watch.tick(("seen", watch.count)):
        assert watch.count < 14

    assert turns == [(2, None), (6, 4), (10, 4), (14, 4)]
    assert watch.digest == digest(("seen", 13))


def test_what_passes_between_turns_is_not_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    walls: list[float] = []

    def turn(ended: Slice | None) -> bool:
        clock[0] += 1000  # others have their turns
        if ended:
            walls.append(ended.wall)
        return True

    watch = make_watch(Pace(compared=1, slices=2, whole=4), turn)
    for _ in range(5):
        clock[0] += 1
        watch.tick()

    assert walls == [2, 2]


def test_rounds_that_are_no_equal_slices_are_refused() -> None:
    with pytest.raises(ValueError, match="12 rounds are no 5 slices"):
        make_watch(Pace(compared=1, slices=5, whole=12), lambda _: True)
