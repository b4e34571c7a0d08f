# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of a machine's numbers, and how they are compared."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np

from reactorl._util import numeric_fingerprint as module
from reactorl._util.numeric_fingerprint import (
    PARTS,
    described_differences,
    fingerprint_differences,
    numeric_fingerprint,
)

if TYPE_CHECKING:
    import pytest

PROGRAM = """
import json
from reactorl._util.numeric_fingerprint import numeric_fingerprint
print(json.dumps(numeric_fingerprint({parts})))
"""


def in_another_process(parts: str, *flags: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, *flags, "-c", PROGRAM.format(parts=parts)],
        capture_output=True,
        check=True,
        timeout=200,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_two_processes_of_one_machine_have_the_same_fingerprint() -> None:
    ours = numeric_fingerprint(PARTS)

    assert list(ours) == ["python", "numpy", "jax"]
    assert len(set(ours.values())) == 3
    assert in_another_process(repr(list(PARTS))) == ours


def test_by_default_no_package_is_imported_for_it() -> None:
    found = in_another_process("")

    assert found == {"python": numeric_fingerprint(["python"])["python"]}


def test_a_last_bit_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = numeric_fingerprint(["python", "numpy"])
    tanh = math.tanh
    target = module._inputs(-50, 50)[100]

    def other(x: float) -> float:
        return math.nextafter(tanh(x), 2) if x == target else tanh(x)

    monkeypatch.setattr(math, "tanh", other)
    after = numeric_fingerprint(["python", "numpy"])

    assert after["python"] != before["python"]
    assert after["numpy"] == before["numpy"]

    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda x: np.nextafter(exp(x), 0))
    assert numeric_fingerprint(["numpy"])["numpy"] != before["numpy"]


def test_packages_that_are_missing_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)

    assert list(numeric_fingerprint(["python", "jax"])) == ["python"]


def test_differences_name_those_that_agree() -> None:
    found = fingerprint_differences(
        {
            "head": {"python": "1", "numpy": "2", "jax": "3"},
            "a": {"python": "1", "numpy": "4"},
            "b": {"python": "1", "numpy": "2", "jax": "5"},
        }
    )

    assert found == {"jax": [["head"], ["b"]], "numpy": [["head", "b"], ["a"]]}
    assert (
        described_differences(found) == "jax: head against b; numpy: head, b against a"
    )
    assert fingerprint_differences({"a": {"python": "1"}, "b": {}}) == {}
