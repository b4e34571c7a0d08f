# SPDX-License-Identifier: Apache-2.0
"""Downscaling of images by area averaging."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from reactorl.rl.wrappers._resize import AreaMean

if TYPE_CHECKING:
    from reactorl.rl.envs.observation_buffer import Array


class AreaResize:
    """Downscales images of one shape like OpenCV's ``INTER_AREA``.

    A pixel of the result is the weighted mean of the pixels that it covers, wholly or
    in part. The weights are integer multiples of one unit, so all sums are exact; only
    the result is rounded, ties to even. Several threads may use it at once.

    Args:
        shape: The shape of images: height, width, and channels if there are any.
        size: The width and height of results.

    Raises:
        ValueError: The result would be larger than the image.
    """

    def __init__(self, shape: tuple[int, ...], size: tuple[int, int]) -> None:
        (height, width, *channels), (new_width, new_height) = shape, size
        if not (0 < new_width <= width and 0 < new_height <= height):
            msg = (
                f"size must be at most that of the image, {width}x{height}, got "
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

    def __call__(self, image: Array) -> Array:
        """Return an image of 8-bit pixels in its new size.

        Raises:
            ValueError: The image has another shape.
        """
        if image.shape != self._shape:
            msg = f"image must have shape {self._shape}, got {image.shape}"
            raise ValueError(msg)
        result = np.empty(self._new_shape, np.uint8)
        self._mean(np.ascontiguousarray(image), result)
        return result

    def __reduce__(self) -> tuple[type[AreaResize], tuple[object, ...]]:
        return type(self), (self._shape, self._size)
