# SPDX-License-Identifier: Apache-2.0
"""Job and measurement: what is measured, and what one process found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.harness.engine import Python


@dataclass(frozen=True, slots=True)
class Job:
    """One case of a workload on one engine."""

    workload: str
    case: str
    engine: str
    python: Python

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"{self.workload} {self.case}, {self.engine}"

    def file_name(self, number: int) -> str:
        """Return the name of the file of a measurement, in set ``number``."""
        return f"{self.workload}--{self.case}--{self.engine}--{number}.json"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Slices of one job in one set of processes."""

    job: Job
    repeat: int
    """Number of the set."""
    seconds: tuple[float, ...]
    """Seconds per ``unit``, slice by slice."""
    cpu: tuple[float, ...]
    """The same in processor time of all threads."""
    calm: tuple[bool, ...]
    """Whether the machine was idle otherwise around each slice."""
    unit: str
    digest: str
    """Digest of the results; equal for all engines of a case."""
    gil: bool
    """Whether the GIL was on at the end."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further numbers, by name."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that failed in one set of processes."""

    job: Job
    repeat: int
    reason: str
