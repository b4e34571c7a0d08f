# SPDX-License-Identifier: Apache-2.0
"""Cores and the GIL."""

import os
import sys

import pytest

from reactorl._util.machine import has_gil, usable_cores


def test_gil_is_asked_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert not has_gil()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert has_gil()
    monkeypatch.delattr(sys, "_is_gil_enabled")
    assert has_gil()


def test_usable_cores_are_those_of_the_affinity_mask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {1, 5, 7}, raising=False)
    assert usable_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_cores() == (os.cpu_count() or 1)
