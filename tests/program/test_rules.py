# SPDX-License-Identifier: Apache-2.0
"""The runtime keeps every rule, on any number of workers."""

from __future__ import annotations

import pytest

from reactorl.testing import assert_same_trace
from reactorl.trace import parse, text
from tests.oracle.runs import run_traced
from tests.programs import RULES


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
@pytest.mark.parametrize("name", RULES)
def test_runtime_keeps_the_rule(name: str, workers: int) -> None:
    rule = RULES[name]

    for shuffle in range(3):
        trace = run_traced(rule.main, workers=workers, shuffle=shuffle, **rule.options)

        assert_same_trace(trace, parse(rule.expected))
        assert text(trace) == rule.expected
