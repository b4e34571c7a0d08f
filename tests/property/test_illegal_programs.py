# SPDX-License-Identifier: Apache-2.0
"""What is not legal is refused with the right error, wherever it stands."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import HealthCheck, given, settings

from reactorl import Reactor, ReactorlError, run
from reactorl.testing import Illegal, check
from reactorl.testing.illegal_table import ILLEGAL
from reactorl.testing.strategies import GeneratedProgram, illegal_programs, programs


@pytest.mark.parametrize("illegal", ILLEGAL, ids=str)
def test_it_is_refused_with_the_right_error(illegal: Illegal) -> None:
    with pytest.raises(illegal.error) as caught:
        check(illegal.make())

    assert type(caught.value) is illegal.error


@pytest.mark.parametrize("illegal", ILLEGAL, ids=str)
def test_run_refuses_it_before_anything_happens(illegal: Illegal) -> None:
    with pytest.raises(illegal.error):
        run(illegal.make(), fast=True, workers=1)


@pytest.mark.parametrize("illegal", ILLEGAL, ids=str)
def test_the_error_survives_pickling_and_has_words(illegal: Illegal) -> None:
    with pytest.raises(ReactorlError) as caught:
        check(illegal.make())

    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert vars(again) == vars(caught.value)
    assert str(again)


@given(illegal=illegal_programs(), generated=programs(max_depth=1))
@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@pytest.mark.filterwarnings("ignore::reactorl.ReactorlWarning")
def test_legal_company_does_not_help(
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
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@pytest.mark.filterwarnings("ignore::reactorl.ReactorlWarning")
def test_generated_programs_are_legal(generated: GeneratedProgram) -> None:
    check(generated.main)
