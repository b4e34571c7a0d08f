# SPDX-License-Identifier: Apache-2.0
"""Making pictures smaller by averaging the area that each new pixel covers."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from reactorl.rl.wrappers._resize import AreaMean

if TYPE_CHECKING:
    from reactorl.rl.envs.observation_buffer import Array


class AreaResize:
    """Shrinks pictures of one shape to another, as OpenCV's ``INTER_AREA`` does.

    A pixel of the result is the mean of what it covers, pixels at its edge counting by
    the part of them that it covers. These parts are whole multiples of one unit, so
    all sums are exact, in integers; only the end is rounded, ties to even. Several
    threads may use it at once.

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
        self._shape = tuple(shape)
        self._size = size
        self._new_shape = (new_height, new_width, *channels)
        self._mean = AreaMean(
            height=height,
            width=width,
            channels=prod(channels),
            new_height=new_height,
            new_width=new_width,
        )

    def __call__(self, picture: Array) -> Array:
        """Return a picture of 8-bit pixels in its new size.

        Raises:
            ValueError: The picture has another shape.
        """
        if picture.shape != self._shape:
            msg = f"a picture has shape {picture.shape}, not {self._shape}"
            raise ValueError(msg)
        result = np.empty(self._new_shape, np.uint8)
        self._mean(np.ascontiguousarray(picture), result)
        return result

    def __reduce__(self) -> tuple[type[AreaResize], tuple[object, ...]]:
        return type(self), (self._shape, self._size)
