# SPDX-License-Identifier: Apache-2.0
"""Illegal programs are rejected with the right error, alone and inside others."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactorl import Reactor, ReactorlError, run
from reactorl.testing.strategies import GeneratedProgram, programs
from tests.programs.illegal import Illegal, check, ring
from tests.programs.illegal_table import ILLEGAL

ILLEGAL_PROGRAMS = st.sampled_from(ILLEGAL) | st.integers(1, 8).map(ring)


@pytest.mark.parametrize("illegal", ILLEGAL, ids=str)
def test_elaboration_raises_the_right_error(illegal: Illegal) -> None:
    with pytest.raises(illegal.error) as caught:
        check(illegal.make())

    assert type(caught.value) is illegal.error


@pytest.mark.parametrize("illegal", ILLEGAL, ids=str)
def test_run_raises_before_any_user_code_runs(illegal: Illegal) -> None:
    with pytest.raises(illegal.error):
        run(illegal.make(), fast=True, workers=1)


@pytest.mark.parametrize("illegal", ILLEGAL, ids=str)
def test_error_survives_pickling_and_has_a_text(illegal: Illegal) -> None:
    with pytest.raises(ReactorlError) as caught:
        check(illegal.make())

    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert vars(again) == vars(caught.value)
    assert str(again)


@given(illegal=ILLEGAL_PROGRAMS, generated=programs(max_depth=1))
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@pytest.mark.filterwarnings("ignore::reactorl.ReactorlWarning")
def test_illegal_program_beside_a_legal_one_is_rejected(
    illegal: Illegal, generated: GeneratedProgram
) -> None:
    if illegal.name == "the main reactor has ports":
        return  # inside another one it may

    def make() -> type[Reactor]:
        class Both(Reactor):
            legal = generated.main()
            illegal_one = illegal.make()()

        return Both

    with pytest.raises(illegal.error):
        check(make())


@given(generated=programs())
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@pytest.mark.filterwarnings("ignore::reactorl.ReactorlWarning")
def test_generated_programs_are_legal(generated: GeneratedProgram) -> None:
    check(generated.main)
