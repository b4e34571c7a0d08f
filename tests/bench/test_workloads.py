# SPDX-License-Identifier: Apache-2.0
"""Every workload runs on every engine that is installed, with the same results."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from benchmarks.engines import ENGINES
from benchmarks.harness.environments import Place, SetUpError, given_place
from benchmarks.harness.facts import gil_is_on
from benchmarks.harness.outcome import must_compare
from benchmarks.harness.plan import make_plan
from benchmarks.harness.turns import Processes, Turns
from benchmarks.harness.workload import EFFORTS
from benchmarks.suites import SUITES
from benchmarks.workloads import load

NAMES = [name for suite in SUITES.values() for name in suite.workloads]
RAY = ("ray-actors", "ray-cgraph")
"""Each run starts a cluster, which takes seconds: one workload is in the fast suite."""


def _pair(name: str, engine: str) -> Any:  # noqa: ANN401
    is_slow = engine in RAY and name != "actors"
    return pytest.param(name, engine, marks=[pytest.mark.slow] if is_slow else [])


PAIRS = [_pair(name, engine) for name in NAMES for engine in load(name).engines]
PLENTY = 1 << 40
TURNS_PER_US = {"gil": 20.0, "ft": 20.0}


class AlwaysCalm:
    """Stands in for calm probes: nothing is timed here."""

    def calm(self) -> bool:
        return True

    def wait_for_calm(self) -> bool:
        return True


def here(engine: str) -> Place:
    """Return this interpreter as the place of an engine."""
    pythons = {"gil" if gil_is_on() else "ft": sys.executable}
    return given_place(ENGINES[engine], pythons)


@cache
def digests(workload: str, engine: str) -> dict[str, str]:
    """Run the smoke size of a workload; return the digests by case."""
    places = {engine: here(engine)}
    plan = make_plan([load(workload)], places, "smoke", PLENTY)
    processes = Processes(places)
    found: dict[str, str] = {}
    calm: Any = AlwaysCalm()
    try:
        for case_set in plan.case_sets:
            turns = Turns(case_set, processes, calm, TURNS_PER_US)
            turns.run()
            assert turns.failures == []
            for measurement in turns.measurements:
                assert all(seconds > 0 for seconds in measurement.seconds)
                assert measurement.gil == (ENGINES[engine].python == "gil")
                found[measurement.job.case] = measurement.digest
        processes.end()
    finally:
        processes.kill()
    return found


def reference(workload: str) -> str:
    """Return the first engine that runs here, whose results the others must have."""
    for engine in load(workload).engines:
        try:
            here(engine)
        except SetUpError:
            continue
        if must_compare(load(workload), engine):
            return engine
    pytest.skip("no engine of this workload is installed")


@pytest.mark.parametrize(("workload", "engine"), PAIRS)
def test_engine_runs_with_the_same_results(workload: str, engine: str) -> None:
    try:
        here(engine)
    except SetUpError as error:
        pytest.skip(f"{engine}: {error}")

    found = digests(workload, engine)

    if not found:
        pytest.skip("modules of its cases are not installed")
    if not must_compare(load(workload), engine) and not any(found.values()):
        return
    expected = digests(workload, reference(workload))
    for case, digest in found.items():
        assert digest
        assert case not in expected or digest == expected[case]


@pytest.mark.parametrize("name", NAMES)
def test_declaration_is_complete(name: str) -> None:
    workload = load(name)

    names = [case.name for case in workload.cases]
    assert len(set(names)) == len(names)
    assert workload.about.strip()
    assert set(workload.engines) <= set(ENGINES)
    assert set(workload.absent) <= set(ENGINES)
    assert set(workload.incomparable) <= set(workload.engines)
    assert not set(workload.engines) & set(workload.absent)
    assert set(workload.baseline.values()) <= set(ENGINES)
    for effort in EFFORTS:
        assert workload.cases_in(effort), f"nothing in {effort}"
    for case in workload.cases:
        assert workload.engines_of(case), f"no engine has {case.name}"
        assert set(case.engines) <= set(workload.engines)
        for effort in case.efforts:
            assert workload.pace_of(case, effort).sets >= 1


@pytest.mark.parametrize("name", NAMES)
def test_engine_that_lacks_a_case_has_a_reason(name: str) -> None:
    workload = load(name)
    lacking = {
        engine
        for case in workload.cases
        for engine in workload.engines
        if engine not in workload.engines_of(case)
    }
    assert set(workload.partly) == lacking


@pytest.mark.parametrize("name", NAMES)
def test_modules_of_implementations_exist(name: str) -> None:
    workload = load(name)

    for engine in workload.engines:
        module, _ = workload.implementation(engine)
        assert find_spec(f"benchmarks.workloads.{module}") is not None


def test_engines_of_plots_differ_without_colour() -> None:
    drawn = {e for name in SUITES["main"].workloads for e in load(name).engines}
    markers = [ENGINES[engine].marker for engine in drawn]
    hatches = [ENGINES[engine].hatch for engine in drawn]

    assert len(set(markers)) == len(markers)
    assert len(set(hatches)) == len(hatches)


def test_spread_works_without_pygame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
