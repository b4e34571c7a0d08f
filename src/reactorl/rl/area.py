# SPDX-License-Identifier: Apache-2.0
"""Making pictures smaller by averaging the area that each new pixel covers."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reactorl.rl.slots import Array


class AreaResize:
    """Shrinks pictures of one shape to another, as OpenCV's ``INTER_AREA`` does.

    A pixel of the result is the mean of what it covers, pixels at its edge counting by
    the part of them that it covers. These parts are whole multiples of one unit, so
    all sums are exact, in integers; only the end is rounded. Not for several threads
    at once: it keeps its scratch space.

    Args:
        shape: The shape of pictures: height, width, and channels if there are any.
        size: The width and height of results.

    Raises:
        ValueError: A result would be larger than a picture.
    """

    def __init__(self, shape: tuple[int, ...], size: tuple[int, int]) -> None:
        (height, width, *channels), (new_width, new_height) = shape, size
        if not (0 < new_width <= width and 0 < new_height <= height):
            msg = (
                f"a picture of {width}x{height} can be made smaller, not "
                f"{new_width}x{new_height}"
            )
            raise ValueError(msg)
        row_weights = _weights(height, new_height)
        column_weights = _weights(width, new_width)
        total = sum(row_weights[0].values()) * sum(column_weights[0].values())
        dtype = np.min_scalar_type(255 * total)
        # Wide enough that no quotient is rounded to a tie that is none.
        quotient = np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)
        self._total = quotient.type(total)
        self._picture = np.empty(shape, dtype)
        self._rows = _Sums((width, *channels), row_weights, dtype)
        # Columns are summed as rows of the picture turned over: whole rows move faster.
        self._turned = np.empty((width, new_height, *channels), dtype)
        self._columns = _Sums((new_height, *channels), column_weights, dtype)
        self._mean = np.empty((new_width, new_height, *channels), quotient)
        swap = (1, 0, *range(2, len(shape)))
        self._rows_turned = self._rows.result.transpose(swap)
        self._mean_turned = self._mean.transpose(swap)

    def __call__(self, picture: Array) -> Array:
        """Return a picture of 8-bit pixels in its new size."""
        np.copyto(self._picture, picture)
        self._rows.add_up(self._picture)
        np.copyto(self._turned, self._rows_turned)
        self._columns.add_up(self._turned)
        np.divide(self._columns.result, self._total, out=self._mean)
        np.rint(self._mean, out=self._mean)  # ties to even, as in OpenCV
        return self._mean_turned.astype(np.uint8, order="C")


class _Sums:
    """Sums of rows by weights."""

    def __init__(
        self,
        row: tuple[int, ...],
        weights: list[dict[int, int]],
        dtype: np.dtype[np.generic],
    ) -> None:
        self.result = np.empty((len(weights), *row), dtype)
        self._picked = np.empty(self.result.shape, dtype)
        self._taps: list[tuple[Array, Array]] = []
        """The first row that each sum is of, with its weight; the second; ..."""
        for place in range(max(map(len, weights))):
            pairs = [[*each.items(), *[(0, 0)] * place][place] for each in weights]
            rows = np.array([index for index, _ in pairs], np.intp)
            units = np.array([unit for _, unit in pairs], dtype)
            units = units.reshape(-1, *[1] * len(row))
            # In full: repeating them on the way takes longer than reading them.
            units = np.ascontiguousarray(np.broadcast_to(units, self.result.shape))
            self._taps.append((rows, units))

    def add_up(self, source: Array) -> None:
        """Sum rows of the source."""
        result, picked = self.result, self._picked
        (first, units), *others = self._taps
        source.take(first, 0, result, "clip")
        np.multiply(result, units, out=result)
        for rows, units in others:
            source.take(rows, 0, picked, "clip")
            np.multiply(picked, units, out=picked)
            np.add(result, picked, out=result)


def _weights(length: int, new_length: int) -> list[dict[int, int]]:
    """Return for each new pixel which old ones it covers, and how many units of each.

    The unit is the longest that divides both kinds of pixels.
    """
    common = gcd(length, new_length)
    old, new = new_length // common, length // common  # the units of a pixel
    found = []
    for index in range(new_length):
        begin, end = index * new, (index + 1) * new
        found.append(
            {
                pixel: min(end, (pixel + 1) * old) - max(begin, pixel * old)
                for pixel in range(begin // old, -(-end // old))
            }
        )
    return found
