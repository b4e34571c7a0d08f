# SPDX-License-Identifier: Apache-2.0
"""Calm probes: a small piece of work on each core tells whether the machine is idle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from benchmarks.harness.process import Child

if TYPE_CHECKING:
    from collections.abc import Sequence

CALM = 1.2
"""How much longer than usual the work may take on an idle machine."""
SAMPLE = 100
"""Number of probes that tell how long it usually takes."""
TRIES = 40
"""Number of probes before a turn; each takes a few milliseconds."""


class CalmProbes:
    """A process for each core, pinned to it."""

    def __init__(self, interpreter: str) -> None:
        cores = (
            sorted(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else range(os.cpu_count() or 1)
        )
        self._children = [Child(interpreter, "probe", core=core) for core in cores]
        for child in self._children:
            child.receive()
        # One core at a time, undisturbed, tells how long it should take.
        self._usual = [
            _undisturbed([self._probe(child)[0] for _ in range(SAMPLE)])
            for child in self._children
        ]
        self._recent: list[tuple[float, ...]] = []

    @staticmethod
    def _probe(*children: Child) -> tuple[float, ...]:
        """Return how long the work takes on some cores at the same time."""
        for child in children:
            child.send("go")
        return tuple(child.receive() for child in children)

    def calm(self) -> bool:
        """Return whether all cores are available at once and otherwise idle.

        Two cores of a virtual machine may be two threads of one core for a while.
        """
        times = self._probe(*self._children)
        self._update(times)
        return all(t <= CALM * u for t, u in zip(times, self._usual, strict=True))

    def _update(self, times: tuple[float, ...]) -> None:
        """Correct the usual time if the machine was busy when it was taken."""
        self._recent.append(times)
        if len(self._recent) == SAMPLE:
            each = map(_undisturbed, zip(*self._recent, strict=True))
            self._usual = [min(pair) for pair in zip(self._usual, each, strict=True)]
            self._recent.clear()

    def wait_for_calm(self) -> bool:
        """Return True as soon as the machine is calm; False if it is not in time."""
        return any(self.calm() for _ in range(TRIES))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.kill()


def _undisturbed(times: Sequence[float]) -> float:
    """Return the time on an idle machine, estimated from several times."""
    return sorted(times)[len(times) // 10]
