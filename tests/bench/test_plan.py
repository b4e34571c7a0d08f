# SPDX-License-Identifier: Apache-2.0
"""Who takes turns with whom, and what makes a measurement another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.evidence import plan as planning
from benchmarks.harness.environments import Place
from benchmarks.harness.plan import make_plan, nothing_is_done
from benchmarks.workloads import NAMES, load

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from benchmarks.harness.plan import Plan, Turn
    from benchmarks.harness.workload import Effort

ENGINES = ["ours-ft", "plain", "ray-actors", "ray-cgraph"]
FACTS = {"version": "3.11.7", "packages": {"numpy": "2.4.6", "pip": "25"}}
PLENTY = 1 << 40


def plan(
    effort: Effort = "full",
    facts: dict[str, object] = FACTS,
    memory: int = PLENTY,
    most_sets: int | None = None,
    is_done: Callable[[Turn], bool] = nothing_is_done,
) -> Plan:
    places = {engine: Place("python", facts) for engine in ENGINES}
    workloads = [load(name) for name in ("actors", "object_size")]
    return make_plan(workloads, ENGINES, places, effort, memory, most_sets, is_done)


def keys(made: Plan) -> list[str]:
    return [key for turn in made.turns for key in turn.keys.values()]


def test_quiet_engines_take_turns_and_restless_ones_are_alone() -> None:
    for turn in plan().turns:
        assert list(turn.keys) in (["ours-ft", "plain"], ["ray-actors"], ["ray-cgraph"])


def test_a_full_run_has_everybody_within_a_workload() -> None:
    stints = list(plan().stints())

    first = [(s[0].workload.name, s[0].phase, s[0].number) for s in stints[:6]]
    assert first == [
        (workload, phase, 0)
        for workload in ("actors", "object_size")
        for phase in ("", "ray-actors", "ray-cgraph")
    ]


def test_a_quick_run_starts_ray_once_for_all() -> None:
    stints = list(plan("quick").stints())

    shared = [s for s in stints if s[0].phase]
    assert [s[0].phase for s in shared] == ["ray-actors", "ray-cgraph"]
    for stint in shared:
        names = {turn.workload.name for turn in stint}
        assert names == {"actors", "object_size"}


def test_fewer_sets_are_the_first_of_all() -> None:
    def planned(made: Plan) -> dict[str, str]:
        return {
            file: key
            for turn in made.turns
            for file, key in zip(turn.files(), turn.keys.values(), strict=True)
        }

    whole, some = planned(plan()), planned(plan(most_sets=2))

    assert {turn.number for turn in plan(most_sets=2).turns} == {0, 1}
    assert some.items() < whole.items()


def test_sets_that_were_measured_before_count_beyond_those_asked_for() -> None:
    def was_measured(turn: Turn) -> bool:
        return turn.workload.name == "actors" and turn.number < 3 and not turn.phase

    turns = plan("full", most_sets=1, is_done=was_measured).turns

    numbers = {
        name: {t.number for t in turns if t.workload.name == name and not t.phase}
        for name in ("actors", "object_size")
    }
    assert numbers == {"actors": {0, 1, 2}, "object_size": {0}}
    assert {turn.number for turn in turns if turn.phase} == {0}


def test_every_measurement_is_planned_once() -> None:
    for effort in ("smoke", "quick", "full"):
        files = [file for turn in plan(effort).turns for file in turn.files()]

        assert len(set(files)) == len(files)


def test_an_engine_that_needs_too_much_memory_is_left_out_alone() -> None:
    largest = load("object_size").cases[-1]
    made = plan(memory=22 << 30)

    engines = {
        engine
        for turn in made.turns
        if turn.case.name == largest.name
        for engine in turn.keys
    }
    assert engines == {"ours-ft", "plain", "ray-actors"}
    assert made.left_out == {
        "Object size: 500 MB, Ray Compiled Graphs": "it needs 23.2 GiB of memory, and "
        "22 GiB were free"
    }


def test_a_case_that_needs_too_much_memory_is_left_out_with_the_reason() -> None:
    small = plan(memory=4 << 30)

    left = small.left_out["Object size: 500 MB"]
    assert "GiB of memory, and 4 GiB were free" in left
    assert all(turn.case.name != "500MB" for turn in small.turns)


def test_as_many_engines_take_turns_as_have_room_in_memory() -> None:
    def parties(case: str, memory: int) -> list[list[str]]:
        turns = [t for t in plan(memory=memory).turns if t.case.name == case]
        return [[job.engine for job in party] for party in turns[0].parties()]

    gib = 1 << 30
    assert parties("300MB", 22 * gib) == [["ours-ft", "plain"]]
    assert parties("300MB", 20 * gib) == [["ours-ft"], ["plain"]]
    assert parties("10MB", gib) == [["ours-ft", "plain"]]  # so little that none counts


def test_keys_change_with_packages_but_not_with_the_installer() -> None:
    before = keys(plan())
    newer = {"version": "3.11.7", "packages": {"numpy": "2.4.7", "pip": "25"}}
    other_pip = {"version": "3.11.7", "packages": {"numpy": "2.4.6", "pip": "26"}}

    assert keys(plan()) == before
    assert keys(plan(facts=other_pip)) == before
    assert not set(keys(plan(facts=newer))) & set(before)


def test_when_our_code_changes_everybody_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = keys(plan())

    monkeypatch.setattr(planning, "ours_digest", lambda: "another")

    assert not set(keys(plan())) & set(before)


def test_all_workloads_have_a_name_in_the_list() -> None:
    assert [load(name).name for name in NAMES] == list(NAMES)
