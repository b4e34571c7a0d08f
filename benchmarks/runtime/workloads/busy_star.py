# SPDX-License-Identifier: Apache-2.0
"""Busy star: pure-Python work of a known length in each client."""

from __future__ import annotations

from functools import partial

from benchmarks.runtime.spin import spin
from benchmarks.runtime.workloads.players import PlayerStar


class Spinner:
    """Computes a number that takes ``turns`` steps."""

    def __init__(self, turns: int, index: int) -> None:
        self.turns = turns
        self.number = index

    def step(self) -> int:
        self.number = spin(self.turns, self.number)
        return self.number


def make(case: str, loops_per_us: float) -> PlayerStar:
    """Return a star from e.g. ``16x200us``: so many clients, so long each."""
    width, length = case.removesuffix("us").split("x")
    turns = round(int(length) * loops_per_us)
    compared_rounds = max(20, 4_000 // int(length))
    return PlayerStar("busy_star", int(width), partial(Spinner, turns), compared_rounds)
