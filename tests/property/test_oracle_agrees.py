# SPDX-License-Identifier: Apache-2.0
"""A run is the oracle's run, however many workers, in whatever order they work."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactorl.testing import assert_same_trace
from reactorl.testing.generated import program_from_seed
from reactorl.testing.strategies import GeneratedProgram, programs
from reactorl.trace import digest
from tests.oracle.runs import by_oracle, by_runtime

WORKERS = (1, 2, 4, 8)
SEEDS = range(40)

patient = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@given(generated=programs(), choice_seed=st.integers(1, 99))
@patient
def test_oracles_choices_cannot_be_observed(
    generated: GeneratedProgram, choice_seed: int
) -> None:
    assert_same_trace(by_oracle(generated, choice_seed), by_oracle(generated))


@given(generated=programs(), shuffle=st.integers(1, 99))
@patient
def test_any_number_of_workers_gives_the_oracles_trace(
    generated: GeneratedProgram, shuffle: int
) -> None:
    expected = by_oracle(generated)

    for workers in WORKERS:
        for seed in (0, shuffle, shuffle + 1):
            actual = by_runtime(generated, workers=workers, shuffle=seed)
            assert_same_trace(actual, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_from_seeds_give_the_oracles_trace(seed: int) -> None:
    generated = program_from_seed(seed)
    expected = by_oracle(generated)

    for workers in WORKERS:
        actual = by_runtime(generated, workers=workers, shuffle=seed)
        assert_same_trace(actual, expected)


@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_many_programs_from_seeds_give_the_oracles_trace(first: int) -> None:
    for seed in range(first, first + 100):
        generated = program_from_seed(seed)
        workers = WORKERS[seed % len(WORKERS)]

        actual = by_runtime(generated, workers=workers, shuffle=seed)
        assert_same_trace(actual, by_oracle(generated))


@pytest.mark.parametrize("hash_seed", [1, 2, 12345])
def test_hash_seed_leaves_no_mark(hash_seed: int) -> None:
    program = (
        "from tests.property.test_oracle_agrees import digests\n"
        "print('\\n'.join(digests()))"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    elsewhere = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": path},
        capture_output=True,
        check=True,
        text=True,
    )

    assert elsewhere.stdout.split() == digests()


def digests() -> list[str]:
    """Return the digests of some programs run by two workers, and by the oracle."""
    generated = [program_from_seed(seed) for seed in SEEDS]
    return [
        *(digest(by_runtime(one, workers=2)) for one in generated),
        *(digest(by_oracle(one)) for one in generated),
    ]
