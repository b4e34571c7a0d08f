# SPDX-License-Identifier: Apache-2.0
"""Claims of the workload q_learning, for made-up measurements."""

from __future__ import annotations

import pytest

from benchmarks.harness.measurement import Measurement
from benchmarks.harness.outcome import Outcome, job_of
from benchmarks.harness.results import Results
from benchmarks.workloads import load

UPDATE = 0.5


def measured(case: str, engine: str, seconds: float, repeat: int = 0) -> Measurement:
    return Measurement(
        job=job_of("q_learning", case, engine),
        repeat=repeat,
        seconds=(seconds,) * 25,
        cpu=(seconds,) * 25,
        calm=(True,) * 25,
        unit="round",
        digest="same",
        gil=False,
        more={} if engine == "free" else {"update_seconds": UPDATE},
    )


def outcome(*measurements: Measurement) -> Outcome:
    return Outcome(load("q_learning"), "full", Results(list(measurements)))


def flatness(found: Outcome) -> tuple[float, ...] | None:
    claims = {claim.key: claim for claim in found.workload.claims(found)}
    value = claims["q-learning-flat"].measured
    return value and value.values


def test_flatness_is_relative_to_the_upper_bound() -> None:
    found = outcome(
        measured("500", "free", 10),
        measured("500", "ours-ft", 10 + UPDATE),
        measured("2000", "free", 20),
        measured("2000", "ours-ft", 20 + UPDATE),
    )

    assert flatness(found) == (1.0,)


def test_flatness_is_the_cost_of_a_larger_batch_in_each_set() -> None:
    found = outcome(
        measured("500", "free", 10),
        measured("500", "free", 10, repeat=1),
        measured("500", "ours-ft", 10 + UPDATE),
        measured("500", "ours-ft", 20 + UPDATE, repeat=1),
        measured("2000", "free", 10),
        measured("2000", "free", 10, repeat=1),
        measured("2000", "ours-ft", 13 + UPDATE),
        measured("2000", "ours-ft", 24 + UPDATE, repeat=1),
    )

    assert flatness(found) == pytest.approx((1.3, 1.2))


def test_flatness_is_unknown_without_the_upper_bound() -> None:
    found = outcome(measured("500", "ours-ft", 10), measured("2000", "ours-ft", 10))

    assert flatness(found) is None


def test_notes_have_the_time_of_whole_trainings() -> None:
    found = outcome(measured("500", "plain", 0.04), measured("2000", "plain", 0.05))

    (note,) = found.workload.notes(found)

    assert "| all 500 rounds | batch of 500 | batch of 2,000 |" in note
    assert "| plain loop | 20 s | 25 s |" in note
