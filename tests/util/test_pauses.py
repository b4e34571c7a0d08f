# SPDX-License-Identifier: Apache-2.0
"""Time in which a process is stopped is told from time in which it is slow."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reactorl._util import pauses
from reactorl._util.pauses import Pauses


class Clocks:
    """A wall clock, and that of the processor."""

    def __init__(self) -> None:
        self.wall = self.cpu = 1000.0

    def go_on(self, wall: float, cpu: float) -> None:
        self.wall += wall
        self.cpu += cpu


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    found = Clocks()
    fake = SimpleNamespace(monotonic=lambda: found.wall, process_time=lambda: found.cpu)
    monkeypatch.setattr(pauses, "time", fake)
    return found


def test_regular_looks_see_no_pause(clocks: Clocks) -> None:
    seen = Pauses(1.0)
    for elapsed, busy in [(1.0, 0.0), (1.5, 0.1), (2.0, 0.0), (1.0, 4.0)]:
        clocks.go_on(elapsed, busy)
        assert seen.look() == 0.0


def test_a_stopped_process_has_paused(clocks: Clocks) -> None:
    seen = Pauses(1.0)
    clocks.go_on(62.0, 0.0)
    assert seen.look() == 60.0
    clocks.go_on(1.0, 0.0)
    assert seen.look() == 0.0


def test_a_process_that_computes_has_not_paused(clocks: Clocks) -> None:
    """A C function that holds the GIL delays the look, which is not a pause."""
    seen = Pauses(1.0)
    clocks.go_on(62.0, 61.5)
    assert seen.look() == 0.0
