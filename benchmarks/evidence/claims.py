# SPDX-License-Identifier: Apache-2.0
"""What must hold, and what was measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from benchmarks.runtime.results import Spread

Verdict: TypeAlias = Literal["kept", "missed", "not measured"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure that must be reached.

    Attributes:
        key: Names it in ``notes.toml``, where the cause is if it is missed.
        text: What is claimed, without the bound.
        measured: One value for each set of processes; None if it was not measured.
        bound: What the median must reach.
        at_most: Whether it must not exceed the bound; otherwise it must not fall below.
        unit: Follows the number.
    """

    key: str
    text: str
    measured: Spread | None
    bound: float
    at_most: bool = False
    unit: str = "x"

    @property
    def verdict(self) -> Verdict:
        """Whether the median keeps it."""
        if self.measured is None:
            return "not measured"
        value = self.measured.median
        kept = value <= self.bound if self.at_most else value >= self.bound
        return "kept" if kept else "missed"
