# SPDX-License-Identifier: Apache-2.0
"""A curve that never gets too long: neighbours are averaged when it would."""

from __future__ import annotations

import math

MOST = 256
"""How many points a curve has; twice as many as anybody can see in a small chart."""


class Series:
    """Points of a curve, with x that does not fall.

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
        """Add a value; one that is no number is left out."""
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
        """Return all points, with what does not make a whole one yet."""
        if not self._count:
            return list(self._points)
        return [*self._points, (self._x, self._sum / self._count)]

    def __len__(self) -> int:
        return len(self._points) + bool(self._count)
