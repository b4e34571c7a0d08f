# SPDX-License-Identifier: Apache-2.0
"""Which engines take turns, and what the key of a measurement depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness import plan as planning
from benchmarks.harness.environments import Place
from benchmarks.harness.plan import make_plan, nothing_is_done
from benchmarks.suites import SUITES
from benchmarks.workloads import load

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from benchmarks.harness.plan import CaseSet, Plan
    from benchmarks.harness.workload import Effort

ENGINES = ["ours-ft", "plain", "ray-actors", "ray-cgraph"]
FACTS = {"version": "3.11.7", "packages": {"numpy": "2.4.6", "pip": "25"}}
PLENTY = 1 << 40


def plan(
    effort: Effort = "full",
    facts: dict[str, object] = FACTS,
    memory: int = PLENTY,
    most_sets: int | None = None,
    is_done: Callable[[CaseSet], bool] = nothing_is_done,
) -> Plan:
    places = {engine: Place("python", facts) for engine in ENGINES}
    workloads = [load(name) for name in ("actors", "object_size")]
    return make_plan(workloads, places, effort, memory, most_sets, is_done)


def keys(made: Plan) -> list[str]:
    return [key for each in made.case_sets for key in each.keys.values()]


def engines(case_set: CaseSet) -> list[str]:
    return [job.engine for job in case_set.keys]


def test_engines_take_turns_except_those_that_wait_busily() -> None:
    for each in plan().case_sets:
        assert engines(each) in (["ours-ft", "plain"], ["ray-actors"], ["ray-cgraph"])


def test_full_run_measures_all_engines_of_a_workload_together() -> None:
    groups = list(plan().by_processes())

    first = [(g[0].workload.name, g[0].alone, g[0].number) for g in groups[:6]]
    assert first == [
        (workload, alone, 0)
        for workload in ("actors", "object_size")
        for alone in ("", "ray-actors", "ray-cgraph")
    ]


def test_quick_run_starts_ray_once_for_all_workloads() -> None:
    shared = [g for g in plan("quick").by_processes() if g[0].alone]

    assert [g[0].alone for g in shared] == ["ray-actors", "ray-cgraph"]
    for group in shared:
        assert {each.workload.name for each in group} == {"actors", "object_size"}


def test_fewer_sets_are_the_first_ones() -> None:
    def planned(made: Plan) -> dict[str, str]:
        return {f: key for each in made.case_sets for f, key in each.files().items()}

    whole, some = planned(plan()), planned(plan(most_sets=2))

    assert {each.number for each in plan(most_sets=2).case_sets} == {0, 1}
    assert some.items() < whole.items()


def test_sets_measured_before_belong_to_the_plan() -> None:
    def was_measured(each: CaseSet) -> bool:
        return each.workload.name == "actors" and each.number < 3 and not each.alone

    case_sets = plan("full", most_sets=1, is_done=was_measured).case_sets

    numbers = {
        name: {s.number for s in case_sets if s.workload.name == name and not s.alone}
        for name in ("actors", "object_size")
    }
    assert numbers == {"actors": {0, 1, 2}, "object_size": {0}}
    assert {each.number for each in case_sets if each.alone} == {0}


def test_every_measurement_is_planned_once() -> None:
    for effort in ("smoke", "quick", "full"):
        files = [f for each in plan(effort).case_sets for f in each.files()]

        assert len(set(files)) == len(files)


def test_engine_that_needs_too_much_memory_is_left_out_alone() -> None:
    largest = load("object_size").cases[-1]
    made = plan(memory=22 << 30)

    found = {
        engine
        for each in made.case_sets
        if each.cases[0].name == largest.name
        for engine in engines(each)
    }
    assert found == {"ours-ft", "plain", "ray-actors"}
    assert made.left_out == {
        "Object size: 500 MB, Ray Compiled Graphs": "it needs 23.2 GiB of memory, and "
        "22 GiB were free"
    }


def test_case_that_needs_too_much_memory_is_left_out_with_the_reason() -> None:
    small = plan(memory=4 << 30)

    left = small.left_out["Object size: 500 MB"]
    assert "GiB of memory, and 4 GiB were free" in left
    assert all(each.cases[0].name != "500MB" for each in small.case_sets)


def test_as_many_engines_take_turns_as_fit_into_memory() -> None:
    def groups(case: str, memory: int) -> list[list[str]]:
        found = plan(memory=memory).case_sets
        first = next(each for each in found if each.cases[0].name == case)
        return [[job.engine for job in jobs] for jobs in first.fitting_into_memory()]

    gib = 1 << 30
    assert groups("300MB", 22 * gib) == [["ours-ft", "plain"]]
    assert groups("300MB", 20 * gib) == [["ours-ft"], ["plain"]]
    assert groups("10MB", gib) == [["ours-ft", "plain"]]  # memory does not matter


def test_keys_depend_on_packages_but_not_on_the_installer() -> None:
    before = keys(plan())
    newer = {"version": "3.11.7", "packages": {"numpy": "2.4.7", "pip": "25"}}
    other_pip = {"version": "3.11.7", "packages": {"numpy": "2.4.6", "pip": "26"}}

    assert keys(plan()) == before
    assert keys(plan(facts=other_pip)) == before
    assert not set(keys(plan(facts=newer))) & set(before)


def test_keys_of_all_engines_depend_on_our_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = keys(plan())

    monkeypatch.setattr(planning, "ours_digest", lambda: "another")

    assert not set(keys(plan())) & set(before)


def test_cases_of_a_group_take_turns_in_processes_of_their_own() -> None:
    places = {e: Place("python", FACTS) for e in ("ours-1-gil", "ours-gil", "plain")}

    made = make_plan([load("lookahead")], places, "full", PLENTY, 1)

    (case_set,) = made.case_sets
    assert [(job.case, job.engine) for job in case_set.keys] == [
        ("both", "ours-1-gil"),
        ("both", "ours-gil"),
        ("both", "plain"),
        ("long", "ours-1-gil"),
        ("chain", "ours-1-gil"),
    ]
    names = [case_set.process_of(job) for job in case_set.keys]
    assert len(set(names)) == len(names)


def test_two_builds_of_ours_are_neighbours_with_different_keys() -> None:
    places = {
        "ours-gil": Place("python", FACTS),
        "plain": Place("python", FACTS),
        "ours-gil@old": Place("old python", FACTS, source="other digest"),
    }

    made = make_plan([load("actors")], places, "smoke", PLENTY)

    for each in made.case_sets:
        assert engines(each) == ["ours-gil", "ours-gil@old", "plain"]
        assert len(set(each.keys.values())) == 3


def test_workloads_are_named_like_their_packages() -> None:
    names = [name for suite in SUITES.values() for name in suite.workloads]

    assert [load(name).name for name in names] == names
    assert len(set(names)) == len(names)
