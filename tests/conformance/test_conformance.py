# SPDX-License-Identifier: Apache-2.0
"""Every conformance program does what the rules say, with any number of workers."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from reactorl.testing import assert_same_trace
from tests.conformance.harness import (
    HERE,
    Conformance,
    Outcome,
    by_oracle,
    by_runtime,
    programs,
    run_elsewhere,
    run_here,
)

if TYPE_CHECKING:
    from reactorl.trace import Trace

PROGRAMS = programs()
ONLY_IN_A_PROCESS_OF_THEIR_OWN = (
    "errors_at_run_time/user_threads",  # its threads outlive the run
)
HERE_TOO = [
    case for case in PROGRAMS if case.name not in ONLY_IN_A_PROCESS_OF_THEIR_OWN
]
WORKERS = (1, 2, 4)
IN_A_PROCESS_OF_THEIR_OWN = (
    "actions/physical_action_from_a_thread",
    "banks/full_mesh",
    "deadlines/late_once",
    *ONLY_IN_A_PROCESS_OF_THEIR_OWN,
    "imports/relative",
    "loop/three_clocks",
    "packages/src/search_order",
    "reactions/an_exception_ends_with_status_1",
    "reactions/exit_in_a_body",
    "termination/options_beat_properties",
    "termination/request_stop_runs_the_next_microstep",
    "termination/starvation_does_not_wait",
)
THIRTY_RULES = frozenset(range(1, 31))
SECTIONS = frozenset(
    [*(f"1.{n}" for n in range(1, 16)), "1.22", "1.23"]
    + [f"2.{n}" for n in range(1, 5)]
)

every_program = pytest.mark.parametrize("case", HERE_TOO, ids=lambda case: case.name)
every_ending_program = pytest.mark.parametrize(
    "case",
    [case for case in HERE_TOO if case.ends_normally],
    ids=lambda case: case.name,
)


def _check(case: Conformance, outcome: Outcome) -> None:
    said = f"{case.says}\n{outcome.stderr}"
    assert outcome.stdout == case.expected, said
    assert outcome.status == case.status, said
    for text in case.stderr:
        assert text in outcome.stderr


@every_program
def test_a_program_prints_what_the_rules_say(case: Conformance) -> None:
    _check(case, run_here(case))


@every_ending_program
def test_any_number_of_workers_gives_the_same(case: Conformance) -> None:
    traces: list[Trace] = []
    for workers in WORKERS:
        printed, trace = by_runtime(case, workers=workers, shuffle=workers - 1)
        assert printed == case.expected
        traces.append(trace)

    if not case.physical:
        printed, expected = by_oracle(case)
        assert printed == case.expected
        for trace in traces:
            assert_same_trace(trace, expected)


@pytest.mark.parametrize("name", IN_A_PROCESS_OF_THEIR_OWN)
def test_a_program_runs_as_users_run_it(name: str) -> None:
    case = next(case for case in PROGRAMS if case.name == name)

    _check(case, run_elsewhere(case))


def test_each_of_the_thirty_rules_has_a_program() -> None:
    pinned = frozenset(chain.from_iterable(case.rules for case in PROGRAMS))

    assert pinned == THIRTY_RULES


def test_each_section_of_the_semantics_has_a_program() -> None:
    named = frozenset(chain.from_iterable(case.sections for case in PROGRAMS))

    assert sorted(SECTIONS - named) == []


def test_each_program_says_what_it_pins() -> None:
    silent = [case.name for case in PROGRAMS if not case.says or not case.sections]

    assert silent == []


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) >= 200


def test_every_output_belongs_to_a_program() -> None:
    lonely = [
        path.name
        for path in sorted(HERE.rglob("*.out"))
        if not path.with_suffix(".lf").exists()
    ]

    assert lonely == []
