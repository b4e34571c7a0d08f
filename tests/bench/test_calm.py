# SPDX-License-Identifier: Apache-2.0
"""Calm probes tell a busy machine from an idle one."""

from __future__ import annotations

import pytest

from benchmarks.harness import calm
from benchmarks.harness.calm import CALM, SAMPLE, CalmProbes


class Core:
    """Stands in for a process that reports how long its work took."""

    seconds = 1.0

    def __init__(self, *_: str, **__: int) -> None:
        pass

    def send(self, line: str) -> None:
        assert line == "go"

    def receive(self) -> float:
        return self.seconds

    def kill(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calm, "Child", Core)
    monkeypatch.setattr(Core, "seconds", 1.0)


def test_slower_work_than_usual_is_not_calm() -> None:
    with CalmProbes("python") as probes:
        assert probes.calm()
        Core.seconds = 1.01 * CALM
        assert not probes.calm()
        assert not probes.wait_for_calm()


def test_usual_time_is_corrected_if_machine_was_busy_at_first() -> None:
    Core.seconds = 2.0
    with CalmProbes("python") as probes:
        assert probes.calm()
        Core.seconds = 1.0
        for _ in range(SAMPLE):
            assert probes.calm()
        Core.seconds = 2.0
        assert not probes.calm()
