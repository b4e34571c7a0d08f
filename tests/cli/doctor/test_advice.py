# SPDX-License-Identifier: Apache-2.0
"""Advice of ``reactorl doctor``, from artificial facts."""

from __future__ import annotations

from typing import Any

import pytest

from reactorl.cli.doctor.advice import advice
from tests.cli.doctor.facts import FINE, given


def test_no_advice_if_everything_is_fine() -> None:
    assert advice(FINE) == []


@pytest.mark.parametrize(
    ("changed", "what", "fix"),
    [
        (given("python", free_threaded=False, gil=True), "has a GIL", "3.14t"),
        (
            given("python", gil=True, gil_requested=True),
            "the GIL is on",
            "Unset PYTHON",
        ),
        (given("python", gil=True), "the GIL is on", "PYTHON_GIL=0"),
        (given("imports", **{"ale-py": "gil"}), "importing ale-py turns", "process"),
        (given("python", debug_build=True), "a debug build", "release"),
        (given("python", optimised=False), "profile-guided", "--with-lto"),
        (given("reactorl", built_with=["assertions"]), "with assertions", "release"),
        (given("machine", usable_cores=2), "2 of 4 cores", "taskset"),
        (given("machine", cgroup_cores=1.5), "limit of 1.5 cores", "--workers 1"),
        (given("machine", usable_cores=1, cores=1), "has one core", "one worker"),
        (given("machine", load=3.5), "busy (load 3.5", "measurements"),
        (given("packages", torch="2"), "of Torch may use all", "OMP_NUM_THREADS=1"),
        (given("packages", jax=None), "for train: jax", "'reactorl[train]'"),
        (given("packages", **{"ale-py": None}), "for atari", "docs/atari.md"),
        (
            given("native_environments", CartPoleEnv="the source is not a known one"),
            "the source is not a known one",
            "docs/vector.md",
        ),
    ],
)
def test_each_rule_gives_problem_and_remedy(
    changed: dict[str, Any], what: str, fix: str
) -> None:
    (one,) = advice(changed)

    assert what in one.what
    assert fix in one.fix
    assert not one.broken
    assert not one.what.endswith(".")


def test_repairs_come_first() -> None:
    changed = given("python", free_threaded=False)
    changed["self_check"] = {"ok": False, "problem": "status 1: no"}
    changed["imports"] = {"jax": "ImportError: no"}

    found = advice(changed)

    assert [one.broken for one in found] == [True, True, False]
