# SPDX-License-Identifier: Apache-2.0
"""The speed of a wheel over gcc's build, and its verdict; nothing is measured."""

from __future__ import annotations

import json

import pytest

import wheel_speed
from wheel_speed import Set


def one_set(
    wheel: list[float], gcc: list[float], *, calm: bool = True, digest: str = "d"
) -> Set:
    digests = {"wheel": digest, "gcc": "d"}
    return Set({"wheel": wheel, "gcc": gcc}, digests, [calm] * len(wheel + gcc))


def test_speed_of_a_set_is_gccs_median_time_over_the_wheels() -> None:
    assert one_set([2.0, 4.0, 90.0], [1.0, 2.0, 3.0]).speed == 0.5
    assert one_set([1.0, 1.0], [1.0, 2.0]).speed == 1.5


def test_row_shows_the_median_of_its_sets_and_their_range() -> None:
    sets = [one_set([1.0], [gcc]) for gcc in (0.9, 1.2, 1.0)]

    assert list(wheel_speed.lines({"star 16": sets})) == [
        "  1.000 (0.900 to 1.200)  star 16"
    ]


def test_wheel_must_have_97_percent_of_the_speed_of_gccs_build() -> None:
    fast = {"star 16": [one_set([1.0], [0.971])]}
    slow = {"star 16": [one_set([1.0], [gcc]) for gcc in (0.965, 0.5, 1.0)]}

    assert list(wheel_speed.problems(fast)) == []
    assert list(wheel_speed.problems(slow)) == [
        "star 16: speed must be at least 0.97, got 0.965"
    ]


@pytest.mark.parametrize("gcc", [0.5, 2.0])
def test_busy_machine_gives_no_verdict_and_does_not_pass(gcc: float) -> None:
    rows = {"star 16": [one_set([1.0], [gcc], calm=False)]}

    (problem,) = wheel_speed.problems(rows)

    assert problem.endswith("got 0%: speeds are not judged")


def test_nothing_measured_does_not_pass() -> None:
    assert len(list(wheel_speed.problems({}))) == 1


def test_builds_with_different_results_do_not_pass() -> None:
    rows = {"star 16": [one_set([1.0], [1.0], digest="other")]}

    (problem,) = wheel_speed.problems(rows)

    assert problem.startswith("star 16: both builds must compute the same")


def test_rows_are_those_of_the_runtime_benchmarks() -> None:
    found = {
        name: json.loads(text) for name, text, _, _ in wheel_speed.requests("full")
    }

    assert [name for name in found if name.startswith("star ")] == [
        f"star {clients}" for clients in (2, 4, 8, 16, 64)
    ]
    assert found["cartpole_star 16"]["params"]["env"] == "CartPole-v1"
