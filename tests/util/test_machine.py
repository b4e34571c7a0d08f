# SPDX-License-Identifier: Apache-2.0
"""Cores and the GIL."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from reactorl._util import machine
from reactorl._util.machine import cpu_model, has_gil, memory_gib, usable_cores


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


def test_processor_has_a_name_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(self: Path, *_args: object, **_options: object) -> str:
        raise FileNotFoundError(self)

    monkeypatch.setattr(Path, "read_text", absent)

    assert cpu_model() == (platform.processor() or platform.machine())


@pytest.mark.parametrize("answer", ["Apple M9", ""])
def test_processor_of_macos_is_asked_of_sysctl(
    answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(self: Path, *_args: object, **_options: object) -> str:
        raise FileNotFoundError(self)

    monkeypatch.setattr(Path, "read_text", absent)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(machine, "_sysctl", lambda _name: answer)

    assert cpu_model() == (answer or platform.processor() or platform.machine())


def test_sysctl_that_does_not_exist_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(*_args: object, **_options: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", absent)

    assert machine._sysctl("machdep.cpu.brand_string") == ""


def test_memory_of_unknown_size_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown)

    assert memory_gib() is None
