# SPDX-License-Identifier: Apache-2.0
"""Small pieces of work that tell whether a machine is calm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runtime import measure
from benchmarks.harness.process import CALM, SAMPLE, Feelers

if TYPE_CHECKING:
    import pytest


class Core:
    """Stands in for a process; says how long its work took."""

    seconds = 1.0

    def __init__(self, *_: str) -> None:
        pass

    def tell(self, word: str) -> None:
        assert word == "go"

    def hear(self) -> float:
        return self.seconds

    def end(self) -> None:
        pass


def test_who_takes_much_longer_than_usual_is_disturbed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "Child", Core)
    monkeypatch.setattr(Core, "seconds", 1.0)
    with Feelers("python") as feelers:
        assert feelers.calm()
        Core.seconds = 1.01 * CALM
        assert not feelers.calm()
        assert not feelers.wait_for_calm()


def test_a_machine_that_was_busy_at_first_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "Child", Core)
    monkeypatch.setattr(Core, "seconds", 2.0)
    with Feelers("python") as feelers:
        assert feelers.calm()
        Core.seconds = 1.0
        for _ in range(SAMPLE):
            assert feelers.calm()
        Core.seconds = 2.0
        assert not feelers.calm()
