# SPDX-License-Identifier: Apache-2.0
"""What is measured, and what a measurement says."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, TypeAlias

Python: TypeAlias = Literal["gil", "ft"]
PYTHONS: Final[tuple[Python, ...]] = ("gil", "ft")


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs a workload: ``ours-2``, ``plain``, ``futures-2``, ``xronos``, ..."""

    kind: str
    workers: int = 1
    trace: bool = False

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the engine with a name such as ``ours-1-trace``."""
        kind, *rest = name.split("-")
        return cls(kind, int(rest[0]) if rest else 1, rest[1:] == ["trace"])


@dataclass(frozen=True, slots=True)
class Job:
    """One workload, in one of its cases, on one engine and one Python."""

    workload: str
    case: str
    engine: str
    python: Python

    @property
    def label(self) -> str:
        """How it is called in tables and file names."""
        return f"{self.workload} {self.case}, {self.engine}, {self.python}"

    @property
    def file_stem(self) -> str:
        """Its part of a file name."""
        return f"{self.workload}-{self.case}-{self.engine}-{self.python}"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure, besides what."""

    seconds: float
    """How long a slice is, about."""
    loops_per_us: float = 0.0
    """Turns of ``spin`` in a microsecond, on the Python that measures."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one process found out, in slices that took turns with other processes."""

    job: Job
    repeat: int
    seconds: tuple[float, ...]
    """Seconds per round or per event, see ``unit``, slice by slice."""
    cpu: tuple[float, ...]
    """The same in processor time, of all threads."""
    calm: tuple[bool, ...]
    """Whether nobody else was seen on the processor around each slice."""
    unit: str
    digest: str
    """Fingerprint of what was computed; equal for all engines of a case."""
    gil: bool
    """Whether the GIL was on in the end."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further numbers, by name."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain dictionaries."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class Failure:
    """A measurement that did not come about."""

    job: Job
    repeat: int
    reason: str
