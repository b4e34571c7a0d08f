# SPDX-License-Identifier: Apache-2.0
"""Pictures of what was measured: lines and bars that need no colour to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.runtime.results import Spread


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture, as data.

    Attributes:
        name: Its file, without ending.
        title: Above it; also the text for those who cannot see it.
        x_label: What the horizontal axis is.
        y_label: What the vertical axis is.
        lines: Of each engine: points of a line, by their place on the axis.
        bars: Instead of lines: of each engine, a bar in each group.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical axis is logarithmic.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[tuple[float, Spread]]] | None = None
    bars: Mapping[str, Mapping[str, Spread]] | None = None
    log_x: bool = True
    log_y: bool = True
