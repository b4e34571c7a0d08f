# SPDX-License-Identifier: Apache-2.0
"""Options of ``reactorl run`` in LF's forms, before argparse sees them."""

from __future__ import annotations

import pytest

from reactorl.cli.support.run_options import normalised


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["-f", "a.lf"], ["--fast=true", "a.lf"]),
        (["-f", "FALSE", "a.lf"], ["--fast=FALSE", "a.lf"]),
        (["-o", "5", "s", "a.lf"], ["--timeout=5 s", "a.lf"]),
        (["--timeout", "5 s", "a.lf"], ["--timeout=5 s", "a.lf"]),
        (["-o", "5", "parsecs"], ["--timeout=5 parsecs"]),
        (["-o"], ["-o"]),
    ],
)
def test_values_are_joined_to_their_options(
    args: list[str], expected: list[str]
) -> None:
    assert normalised(args) == expected


def test_arguments_after_two_dashes_are_not_options() -> None:
    assert normalised(["-f", "--", "-f", "-o"]) == ["--fast=true", "--", "-f", "-o"]


def test_only_a_unit_may_follow_zero() -> None:
    assert normalised(["-o", "0", "Main"]) == ["--timeout=0", "Main"]
    assert normalised(["-o", "0", "s", "Main"]) == ["--timeout=0 s", "Main"]
