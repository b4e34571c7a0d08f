# SPDX-License-Identifier: Apache-2.0
"""Conformance programs print the specified output, with any number of workers."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from reactorl.testing import assert_same_trace
from reactorl.trace import load
from tests.conformance.harness import (
    HERE,
    Conformance,
    Outcome,
    by_oracle,
    by_runtime,
    by_simulated_wire,
    programs,
    run_in_process,
    run_in_this_process,
)

if TYPE_CHECKING:
    from pathlib import Path

    from reactorl.trace import Trace

PROGRAMS = programs()
ONLY_SEPARATE_PROCESS = (
    "errors_at_run_time/user_threads",  # its threads outlive the run
)
FEDERATED = [
    case
    for case in PROGRAMS
    if case.name.startswith("federated/") and case.ends_normally
]
# All that can run as processes, also those that end by an error.
AS_PROCESSES = [case for case in PROGRAMS if case.name.startswith("federated/")]
IN_PROCESS = [case for case in PROGRAMS if case.name not in ONLY_SEPARATE_PROCESS]
WORKERS = (1, 2, 4)
SEPARATE_PROCESS = (
    "actions/physical_action_from_a_thread",
    "banks/full_mesh",
    "deadlines/late_once",
    *ONLY_SEPARATE_PROCESS,
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

every_program = pytest.mark.parametrize("case", IN_PROCESS, ids=lambda case: case.name)
every_ending_program = pytest.mark.parametrize(
    "case",
    [case for case in IN_PROCESS if case.ends_normally],
    ids=lambda case: case.name,
)


def _check(case: Conformance, outcome: Outcome) -> None:
    shown = f"{case.rule}\n{outcome.stderr}"
    assert outcome.stdout == case.expected, shown
    assert outcome.status == case.status, shown
    for text in case.stderr:
        assert text in outcome.stderr


@every_program
def test_program_prints_the_expected_output(case: Conformance) -> None:
    _check(case, run_in_this_process(case))


@every_ending_program
def test_output_and_trace_for_any_number_of_workers(
    case: Conformance,
) -> None:
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


@pytest.mark.parametrize("case", FEDERATED, ids=lambda case: case.name)
def test_federates_print_and_trace_what_one_process_does(case: Conformance) -> None:
    alone = None if case.physical else by_runtime(case, workers=1, shuffle=0)[1]

    for seed, workers in ((0, 1), (1, 1), (2, 2)):
        parts = by_simulated_wire(case, seed=seed, workers=workers)

        # Which of two federates prints first at a tag is not determined.
        assert sorted(parts.printed.splitlines()) == sorted(case.expected.splitlines())
        assert_same_trace(parts.trace, alone or parts.replayed)


@pytest.mark.parametrize("case", AS_PROCESSES, ids=lambda case: case.name)
def test_federates_as_processes_print_and_trace_what_one_process_does(
    case: Conformance, tmp_path: Path
) -> None:
    file = tmp_path / "parts.trace"

    outcome = run_in_process(case, "--federated", "--trace", str(file))

    # Which of two federates prints first is not determined.
    printed = [line.partition("] ")[2] for line in outcome.stdout.splitlines()]
    assert sorted(printed) == sorted(case.expected.splitlines()), outcome.stderr
    assert outcome.status == case.status, outcome.stderr
    for text in case.stderr:
        if "run in this process" not in text:
            assert text in outcome.stderr
    if case.ends_normally and not case.physical:
        alone = by_runtime(case, workers=1, shuffle=0)[1]
        assert_same_trace(load(file).trace, alone)


@pytest.mark.parametrize("name", SEPARATE_PROCESS)
def test_program_in_a_separate_process(name: str) -> None:
    case = next(case for case in PROGRAMS if case.name == name)

    _check(case, run_in_process(case))


def test_every_rule_has_a_program() -> None:
    covered = frozenset(chain.from_iterable(case.rules for case in PROGRAMS))

    assert covered == THIRTY_RULES


def test_every_section_of_the_semantics_has_a_program() -> None:
    named = frozenset(chain.from_iterable(case.sections for case in PROGRAMS))

    assert sorted(SECTIONS - named) == []


def test_every_program_states_its_rule_and_section() -> None:
    missing = [case.name for case in PROGRAMS if not case.rule or not case.sections]

    assert missing == []


def test_number_of_programs() -> None:
    assert len(PROGRAMS) >= 200


def test_every_output_has_a_program() -> None:
    orphans = [
        path.name
        for path in sorted(HERE.rglob("*.out"))
        if not path.with_suffix(".lf").exists()
    ]

    assert orphans == []
