# SPDX-License-Identifier: Apache-2.0
"""Every workload runs on every engine that is installed, and all compute the same."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from benchmarks.engines import ENGINES
from benchmarks.harness.environments import SetUpError, here
from benchmarks.harness.turns import Case, EnvShard
from benchmarks.harness.outcome import must_compare
from benchmarks.harness.plan import make_plan
from benchmarks.workloads import NAMES, implementation, load

PAIRS = [(name, engine) for name in NAMES for engine in load(name).engines]
PLENTY = 1 << 40


class AlwaysCalm:
    """Nobody times anything here."""

    def calm(self) -> bool:
        return True

    def wait_for_calm(self) -> bool:
        return True


@cache
def digests(workload: str, engine: str) -> dict[str, str]:
    """Run the smoke size of a workload; returns what was computed, by case."""
    plan = make_plan(
        [load(workload)], [engine], {engine: here(ENGINES[engine])}, "smoke", PLENTY
    )
    company = EnvShard({engine: here(ENGINES[engine])})
    found: dict[str, str] = {}
    calm: Any = AlwaysCalm()
    try:
        assert company.start([engine]) == {}
        for turn in plan.turns:
            case = Case(turn, company, calm)
            case.run()
            assert case.failures == []
            (measurement,) = case.measurements
            assert all(seconds > 0 for seconds in measurement.seconds)
            assert measurement.gil == (not ENGINES[engine].free_threaded)
            found[turn.case.name] = measurement.digest
        company.end()
    finally:
        company.kill()
    return found


def reference(workload: str) -> str:
    """Return the first engine that runs here: others must compute what it does."""
    for engine in load(workload).engines:
        try:
            here(ENGINES[engine])
        except SetUpError:
            continue
        if must_compare(load(workload), engine):
            return engine
    pytest.skip("no engine of this workload is installed")


@pytest.mark.parametrize(("workload", "engine"), PAIRS)
def test_engines_run_and_compute_the_same(workload: str, engine: str) -> None:
    try:
        here(ENGINES[engine])
    except SetUpError as error:
        pytest.skip(f"{engine}: {error}")

    found = digests(workload, engine)

    if not found:
        pytest.skip("what its cases import is not installed")
    if not must_compare(load(workload), engine) and not any(found.values()):
        return
    expected = digests(workload, reference(workload))
    for case, digest in found.items():
        assert digest
        assert case not in expected or digest == expected[case]


@pytest.mark.parametrize("name", NAMES)
def test_declarations_are_whole(name: str) -> None:
    workload = load(name)

    names = [case.name for case in workload.cases]
    assert len(set(names)) == len(names)
    assert workload.about.strip()
    assert set(workload.engines) <= set(ENGINES)
    assert set(workload.absent) <= set(ENGINES)
    assert set(workload.incomparable) <= set(workload.engines)
    assert not set(workload.engines) & set(workload.absent)
    for effort in ("smoke", "quick", "full"):
        assert workload.cases_in(effort), f"nothing in {effort}"
    for case in workload.cases:
        assert workload.engines_of(case), f"nobody runs {case.name}"
        assert set(case.engines) <= set(workload.engines)
        for effort in case.efforts:
            assert workload.pace_of(case, effort).sets >= 1


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_that_some_cases_lack_has_a_reason(name: str) -> None:
    workload = load(name)
    lacking = {
        engine
        for case in workload.cases
        for engine in workload.engines
        if engine not in workload.engines_of(case)
    }
    assert set(workload.partly) == lacking


@pytest.mark.parametrize(("workload", "engine"), PAIRS)
def test_implementations_are_there(workload: str, engine: str) -> None:
    from importlib.util import find_spec

    declared = load(workload)
    package = implementation.__module__

    assert find_spec(f"{package}.{declared.engines[engine]}") is not None


def test_engines_are_told_apart_without_colour() -> None:
    markers = [engine.marker for engine in ENGINES.values()]
    hatches = [engine.hatch for engine in ENGINES.values()]

    assert len(set(markers)) == len(markers)
    assert len(set(hatches)) == len(hatches)


def test_where_there_is_no_pygame_every_case_can_do_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    from benchmarks.workloads.agents import spread

    for name in [name for name in sys.modules if name.partition(".")[0] == "pygame"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(spread, "find_spec", lambda name: None)

    spread.stand_in_for_pygame()
    made = sys.modules["pygame"]
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pygame", made)

    spread.stand_in_for_pygame()  # find_spec would raise: it has no spec

    assert sys.modules["pygame"] is made
