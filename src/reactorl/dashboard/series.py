# SPDX-License-Identifier: Apache-2.0
"""A curve of bounded length: neighbours are averaged when it gets too long."""

from __future__ import annotations

import math

MOST = 256
"""Most points of a curve; a small chart shows half as many."""


class Series:
    """Points of a curve with ascending x.

    Args:
        most: How many points are kept, at most.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._points: list[tuple[float, float]] = []
        self._each = 1  # how many values a point is the mean of
        self._sum = 0.0
        self._count = 0
        self._x = 0.0

    def add(self, x: float, y: float) -> None:
        """Add a value; NaN and infinity are left out."""
        if not math.isfinite(y):
            return
        self._x = x
        self._sum += y
        self._count += 1
        if self._count < self._each:
            return
        self._points.append((x, self._sum / self._count))
        self._sum, self._count = 0.0, 0
        if len(self._points) == self._most:
            pairs = zip(self._points[::2], self._points[1::2], strict=False)
            self._points = [(b[0], (a[1] + b[1]) / 2) for a, b in pairs]
            self._each *= 2

    def points(self) -> list[tuple[float, float]]:
        """Return all points; the last one may be the mean of fewer values."""
        if not self._count:
            return list(self._points)
        return [*self._points, (self._x, self._sum / self._count)]

    def __len__(self) -> int:
        return len(self._points) + bool(self._count)
