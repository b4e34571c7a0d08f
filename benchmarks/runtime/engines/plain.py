# SPDX-License-Identifier: Apache-2.0
"""A plain Python loop: the same bodies, on objects with the same interface.

The workloads write the loop themselves, as one would without a runtime. A connection
without delay is one port that both sides hold; a delayed one is a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.runtime.job import Engine
    from benchmarks.runtime.watch import Watch
    from benchmarks.runtime.workloads.workload import Workload


class Port:
    """A value and whether it is there."""

    __slots__ = ("is_present", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.is_present = False

    def set(self, value: object) -> None:
        self.value = value
        self.is_present = True


class MultiPort(list[Port]):
    """A row of ports."""

    def values(self) -> list[Any]:
        return [port.value for port in self]


class Plain:
    """What bodies expect of a reactor besides ports and state."""

    bank_index = 0
    stopped = False

    def request_stop(self) -> None:
        self.stopped = True


def bodies(*reactions: object) -> tuple[Any, ...]:
    """Return bodies of a reactor class, for a class that is not a reactor."""
    return reactions


def run(workload: Workload, watch: Watch, engine: Engine) -> dict[str, Any]:
    """Run the workload's plain loop."""
    del engine
    workload.plain(watch)
    return {}
